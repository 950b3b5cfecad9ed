# Builds the same files as `make image`, with Docker. The base image must have a digest:
#   docker build -t etcd-operator --build-arg NODE_IMAGE=node:24-bookworm@sha256:<digest> .
# The digest of a tag: docker buildx imagetools inspect node:24-bookworm
# There is no default, because the project pins no digest of an external image. The result contains nothing of the base image.
ARG NODE_IMAGE
FROM ${NODE_IMAGE} AS build
ARG NODE_IMAGE
RUN case "$NODE_IMAGE" in *@sha256:*) ;; *) echo "NODE_IMAGE must have a digest: node:24-bookworm@sha256:..." >&2; exit 1 ;; esac
WORKDIR /src
COPY . .
RUN make image-tree

FROM scratch
COPY --from=build /src/dist/image-tree/ /
USER 65532:65532
ENV PATH=/usr/local/bin NODE_ENV=production
ENTRYPOINT ["/usr/local/bin/etcd-operator"]
