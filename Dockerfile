# Images of the programs that run in pods, for those who have Docker:
#
#   docker buildx build --target operator --build-arg VERSION=1.0.0 -t YOURS/operator:1.0.0 .
#   docker buildx build --target bindcar  --build-arg VERSION=1.0.0 -t YOURS/bindcar:1.0.0 .
#   docker buildx build --target dnshook  --build-arg VERSION=1.0.0 -t YOURS/dnshook:1.0.0 .
#   docker buildx build --target zonefold --build-arg VERSION=1.0.0 -t YOURS/zonefold:1.0.0 .
#
# "make image" makes the same without Docker, and BIND's; a test in hack/image holds both to each other.
FROM --platform=$BUILDPLATFORM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG TARGETOS TARGETARCH VERSION=dev COMMIT DATE
RUN CGO_ENABLED=0 GOFLAGS= GOEXPERIMENT= GOOS=$TARGETOS GOARCH=$TARGETARCH GOAMD64=v1 GOARM64=v8.0 go build -trimpath -buildvcs=false -ldflags "-s -w -X github.com/zonefold/zonefold/internal/version.release=$VERSION -X github.com/zonefold/zonefold/internal/version.commit=$COMMIT -X github.com/zonefold/zonefold/internal/version.date=$DATE" -o /out/ ./cmd/operator ./cmd/bindcar ./cmd/dnshook ./cmd/zonefold

FROM scratch AS base
COPY hack/image/base/ /
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
ARG VERSION=dev COMMIT
LABEL org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.source="https://github.com/zonefold/zonefold" \
      org.opencontainers.image.version="$VERSION" \
      org.opencontainers.image.revision="$COMMIT"

FROM base AS bindcar
LABEL org.opencontainers.image.title="zonefold-bindcar" \
      org.opencontainers.image.description="Zonefold: the sidecar of a BIND 9 name server"
COPY --from=build /out/bindcar /bindcar
USER 101:101
WORKDIR /
ENTRYPOINT ["/bindcar"]

FROM base AS dnshook
LABEL org.opencontainers.image.title="zonefold-dnshook" \
      org.opencontainers.image.description="Zonefold: a server for DNSClasses"
COPY --from=build /out/dnshook /dnshook
USER 65532:65532
WORKDIR /
ENTRYPOINT ["/dnshook"]

FROM base AS zonefold
LABEL org.opencontainers.image.title="zonefold-zonefold" \
      org.opencontainers.image.description="Zonefold: the command, which is the console in the cluster too"
COPY --from=build /out/zonefold /zonefold
USER 65532:65532
WORKDIR /
ENTRYPOINT ["/zonefold"]

# The last one is what "docker build" makes without --target.
FROM base AS operator
LABEL org.opencontainers.image.title="zonefold-operator" \
      org.opencontainers.image.description="Zonefold: one control plane for DNS"
COPY --from=build /out/operator /operator
USER 65532:65532
WORKDIR /
ENTRYPOINT ["/operator"]
