# The same files as `make image` packs, made by the same tool, for those who have Docker: docker build -t etcd-operator .
FROM node:24-bookworm AS build
WORKDIR /src
COPY . .
RUN make image-tree

FROM scratch
COPY --from=build /src/dist/image-tree/ /
USER 65532:65532
ENV PATH=/usr/local/bin NODE_ENV=production
ENTRYPOINT ["/usr/local/bin/etcd-operator"]
