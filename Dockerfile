# syntax=docker/dockerfile:1

# docker build --build-arg BURSAR_COMMIT="$(git rev-parse HEAD)" -t bursar .
# docker run -p 8080:8080 -v bursar:/var/lib/bursar bursar
# docker run --rm -it -p 8080:8080 bursar demo

# The base images are named by tag, not digest, so that a build gets Debian's security fixes. To pin them, look up the
# digests and pass them to the build:
#   docker buildx imagetools inspect rust:1.95-slim-bookworm --format '{{.Manifest.Digest}}'
#   docker buildx imagetools inspect gcr.io/distroless/static-debian12:nonroot --format '{{.Manifest.Digest}}'
#   docker build --build-arg BUILD_IMAGE=rust:1.95-slim-bookworm@sha256:… \
#       --build-arg RUN_IMAGE=gcr.io/distroless/static-debian12:nonroot@sha256:… …
# Look them up again for every release, to get the fixes.
ARG BUILD_IMAGE=rust:1.95-slim-bookworm
ARG RUN_IMAGE=gcr.io/distroless/static-debian12:nonroot

FROM $BUILD_IMAGE AS build
# Versions are Debian's newest: a pinned one disappears from its mirrors with the next fix.
# hadolint ignore=DL3008
RUN apt-get update && apt-get install -y --no-install-recommends gcc libc6-dev musl-tools && \
    rm -rf /var/lib/apt/lists/* && \
    rustup target add x86_64-unknown-linux-musl
WORKDIR /src
COPY . .
# The repository's history stays outside; the version's commit comes from here.
ARG BURSAR_COMMIT=
ENV BURSAR_COMMIT=$BURSAR_COMMIT
RUN --mount=type=cache,target=/usr/local/cargo/registry \
    --mount=type=cache,target=/src/target \
    CC_x86_64_unknown_linux_musl=musl-gcc \
    cargo build --profile dist --locked --target x86_64-unknown-linux-musl -p bursar && \
    install -D target/x86_64-unknown-linux-musl/dist/bursar /out/usr/bin/bursar && \
    install -d -o 65532 -g 65532 -m 0700 /out/var/lib/bursar

# The program is static and has the public root certificates built in. This image has no C library and no shell: only a user
# and an empty /tmp.
FROM $RUN_IMAGE
COPY --from=build --chown=65532:65532 /out/var/lib/bursar /var/lib/bursar
COPY --from=build /out/usr/bin/bursar /usr/bin/bursar
ENV BURSAR_DATABASE=sqlite:/var/lib/bursar/bursar.db \
    BURSAR_LISTEN=0.0.0.0:8080
WORKDIR /var/lib/bursar
VOLUME /var/lib/bursar
EXPOSE 8080
USER 65532:65532
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=6s --start-period=20s --retries=3 CMD ["/usr/bin/bursar", "health"]
ENTRYPOINT ["/usr/bin/bursar"]
CMD ["serve"]
