# Flink with drey in it (docs/tasks/image.md):
#
#   docker build --build-arg FLINK_IMAGE=flink:2.3.0-scala_2.12-java17 -t drey:flink-2.3.0 .
#
# FLINK_IMAGE: an official image of Flink, or one based on it. drey is also compiled in it, so that it is linked with the
# libraries of this image, and its Java parts against this Flink. A tag can be given to another image: for a build that must not
# change, name it with its digest (flink:2.3.0-scala_2.12-java17@sha256:...).
ARG FLINK_IMAGE=flink:2.3.0-scala_2.12-java17

# shared: with the libraries of this image. static: with its own (docs/tasks/static.md), so that other images can copy the two files
ARG LINK=shared

FROM ${FLINK_IMAGE} AS build
ARG LINK
USER root
WORKDIR /src
COPY tools/deps.sh tools/ui.sh tools/
RUN tools/deps.sh build jars
COPY . .
RUN make -j"$(nproc)" all jars
RUN tools/check-abi.sh --limit here build/drey build/drey-init
RUN tools/image/pack.sh build /pack
RUN [ "${LINK}" != static ] || { tools/deps.sh static && make -j"$(nproc)" static && tools/image/pack.sh build/static/* /pack; }

FROM ${FLINK_IMAGE}
USER root
COPY --from=build /pack/ /
RUN /usr/share/drey/install
USER 9999:9999
ENTRYPOINT ["/usr/bin/drey-init", "--agent", "--", "/usr/bin/drey", "run"]
CMD []
