# syntax=docker/dockerfile:1

# docker build --build-arg BURSAR_COMMIT="$(git rev-parse HEAD)" -t bursar .
# docker run -p 8080:8080 -v bursar:/var/lib/bursar bursar
# docker run --rm -it -p 8080:8080 bursar demo

FROM rust:1.95-slim-bookworm AS build
RUN apt-get update && apt-get install -y --no-install-recommends gcc libc6-dev && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY . .
# The repository's history stays outside; the version's commit comes from here.
ARG BURSAR_COMMIT=
ENV BURSAR_COMMIT=$BURSAR_COMMIT
RUN --mount=type=cache,target=/usr/local/cargo/registry \
    --mount=type=cache,target=/src/target \
    cargo build --release --locked -p bursar && \
    install -D --strip target/release/bursar /out/usr/bin/bursar && \
    install -d -o 65532 -g 65532 -m 0700 /out/var/lib/bursar

# The C library and nothing else: SQLite is inside the program, TLS is rustls, and the root certificates are built in.
FROM gcr.io/distroless/cc-debian12:nonroot
COPY --from=build --chown=65532:65532 /out/var/lib/bursar /var/lib/bursar
COPY --from=build /out/usr/bin/bursar /usr/bin/bursar
ENV BURSAR_DATABASE=sqlite:/var/lib/bursar/bursar.db \
    BURSAR_LISTEN=0.0.0.0:8080
WORKDIR /var/lib/bursar
VOLUME /var/lib/bursar
EXPOSE 8080
USER nonroot
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=6s --start-period=20s --retries=3 CMD ["/usr/bin/bursar", "health"]
ENTRYPOINT ["/usr/bin/bursar"]
CMD ["serve"]
