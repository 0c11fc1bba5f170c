# An image for every command except `demo`. It has no embedded PostgreSQL, so DATABASE_URL must be set.

# Debian, because the TypeScript compiler needs glibc. Its output is plain JavaScript.
FROM node:24-slim AS build
WORKDIR /app
COPY .npmrc package.json package-lock.json ./
RUN npm ci --ignore-scripts
COPY tsconfig.json ./
COPY src src
COPY jobs jobs
# The context has no .git.
ARG COMMIT
RUN npm run build && chmod +x dist/cli/main.js

# The bundle of the command contains the libraries that it uses, so the image has no node_modules.
FROM node:24-alpine
RUN addgroup -S -g 10001 collab && adduser -S -D -H -u 10001 -G collab collab \
  && ln -s /app/dist/cli/main.js /usr/local/bin/collab-sync
WORKDIR /app
ENV NODE_ENV=production
ARG COMMIT
LABEL org.opencontainers.image.title=collab-sync org.opencontainers.image.licenses=MIT org.opencontainers.image.revision=$COMMIT
COPY package.json LICENSE ./
COPY sql sql
COPY docs/DICTIONARY.md docs/
COPY --from=build /app/dist/commit dist/
COPY --from=build /app/dist/cli dist/cli
# A number, so that Kubernetes can verify that the user is not root.
USER 10001
ENTRYPOINT ["collab-sync"]
CMD ["worker"]
