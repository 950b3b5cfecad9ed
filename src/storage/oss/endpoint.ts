/** Where the original looked when nothing was said. */
const usual = 'https://oss-cn-hangzhou.aliyuncs.com';

/**
 * OSS speaks S3 at an address of its own: `oss-<region>.aliyuncs.com` does so as `s3.oss-<region>.aliyuncs.com`. An address
 * that is not Alibaba's is taken as it is.
 */
export function s3EndpointOf(endpoint = usual): { readonly endpoint: string; readonly region: string } {
  const url = new URL(endpoint);
  const alibabas = /^(?:s3\.)?(oss-([a-z0-9-]+?)(?:-internal)?\.aliyuncs\.com)$/.exec(url.hostname);
  if (alibabas === null) return { endpoint, region: 'us-east-1' };
  const [, host = '', region = ''] = alibabas;
  url.hostname = `s3.${host}`;
  return { endpoint: url.href.replace(/\/$/, ''), region };
}
