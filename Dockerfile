# syntax=docker/dockerfile:1
# Longhaul's servers and workers. Temporal is not in it: TEMPORAL_ADDRESS names one.
#
#   docker build -t longhaul .
#   docker run --rm longhaul --help
#
# A project of your own, with its tools and pipelines:
#
#   FROM longhaul
#   COPY --chown=0:0 . /project
ARG NODE_IMAGE=node:24-trixie-slim

FROM ${NODE_IMAGE} AS build
ARG TARGETARCH=amd64
WORKDIR /opt/longhaul
COPY package.json package-lock.json .npmrc ./
RUN --mount=type=cache,target=/root/.npm npm ci --ignore-scripts
COPY . .
RUN npm run build \
  && npm prune --omit=dev --ignore-scripts \
  && node deploy/prune-platforms.js "$TARGETARCH"

FROM ${NODE_IMAGE}
# tini reaps the processes of steps; git and procps are what steps of pipelines use most.
RUN apt-get update \
  && apt-get install -y --no-install-recommends ca-certificates git procps tini \
  && rm -rf /var/lib/apt/lists/* \
  && install -d -o 1000 -g 1000 -m 0700 /var/lib/longhaul /var/lib/longhaul/home \
  && install -d /project /node_modules \
  && ln -s /opt/longhaul /node_modules/longhaul \
  && ln -s /opt/longhaul/dist/bin/longhaul.js /usr/local/bin/longhaul
COPY --from=build /opt/longhaul/package.json /opt/longhaul/LICENSE /opt/longhaul/
COPY --from=build /opt/longhaul/pipelines/pipeline.schema.json /opt/longhaul/pipelines/
COPY --from=build /opt/longhaul/node_modules /opt/longhaul/node_modules
COPY --from=build /opt/longhaul/dist /opt/longhaul/dist
ENV NODE_ENV=production \
  LONGHAUL_HOME=/var/lib/longhaul/home \
  LONGHAUL_HOST=0.0.0.0 \
  LONGHAUL_PROJECT=/project
WORKDIR /project
USER 1000:1000
VOLUME /var/lib/longhaul
# MCP and HTTP jobs; health and metrics.
EXPOSE 7411 9464
ENTRYPOINT ["tini", "--", "longhaul"]
CMD ["--help"]
