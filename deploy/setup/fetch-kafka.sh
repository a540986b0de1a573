#!/usr/bin/env bash
# Lays Apache Kafka (Apache-2.0), as the jars that its own build publishes, into $CACHE/kafka/VERSION and prints that folder.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/cache.sh"

VERSION=4.1.2
LOGGER_VERSION=1.7.36
PLUGIN=org.apache.maven.plugins:maven-dependency-plugin:3.8.1

fetch_kafka() {
  need java "Kafka runs on Java 17 or newer"
  need mvn "Apache Maven fetches the broker's jars"
  cat >"$1/pom.xml" <<POM
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>hypercane</groupId>
  <artifactId>broker</artifactId>
  <version>$VERSION</version>
  <dependencies>
    <dependency>
      <groupId>org.apache.kafka</groupId>
      <artifactId>kafka_2.13</artifactId>
      <version>$VERSION</version>
    </dependency>
    <dependency>
      <groupId>org.slf4j</groupId>
      <artifactId>slf4j-simple</artifactId>
      <version>$LOGGER_VERSION</version>
    </dependency>
  </dependencies>
</project>
POM
  mvn --quiet --batch-mode -Dstyle.color=never --file "$1/pom.xml" "$PLUGIN:copy-dependencies" -DincludeScope=runtime \
    "-DoutputDirectory=$2" >&2 ||
    die "Maven could not fetch Kafka $VERSION; is a Maven repository reachable? A copy of the folder kafka/$VERSION from another checkout's cache, put into $SHARED, does as well"
}

ensure "kafka/$VERSION" "$ROOT/deploy/setup/kafka.sha256" fetch_kafka
printf '%s\n' "$CACHE/kafka/$VERSION"
