/** The default endpoint of the original operator. */
const defaultEndpoint = 'https://oss-cn-hangzhou.aliyuncs.com';

/**
 * The S3 endpoint of an OSS endpoint: `s3.oss-<region>.aliyuncs.com` for `oss-<region>.aliyuncs.com`. Endpoints of
 * other domains are used unchanged.
 */
export function s3EndpointOf(endpoint = defaultEndpoint): { readonly endpoint: string; readonly region: string } {
  const url = new URL(endpoint);
  const alibaba = /^(?:s3\.)?(oss-([a-z0-9-]+?)(?:-internal)?\.aliyuncs\.com)$/.exec(url.hostname);
  if (alibaba === null) return { endpoint, region: 'us-east-1' };
  const [, host = '', region = ''] = alibaba;
  url.hostname = `s3.${host}`;
  return { endpoint: url.href.replace(/\/$/, ''), region };
}
