#!/usr/bin/env bash
# Starts one Kafka broker (KRaft, broker and controller in one) on 127.0.0.1 and prints its address.
#
#   deploy/kafka/start.sh DIR [PORT]
#
# DIR takes data, configuration, log and process id, and can be thrown away after deploy/kafka/stop.sh DIR. Without PORT a
# free one is taken. The Java heap is KAFKA_HEAP (default 512m). With KAFKA_SECURE=1 the broker takes TLS and SASL only: its
# certificate is in DIR/ca.pem, the password of user `hypercane` in DIR/password, both made anew. KAFKA_PROPERTIES holds more
# lines of the broker's configuration. With KAFKA_JOIN=OTHER the broker joins the cluster of the one in folder OTHER.
set -euo pipefail
HERE="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
. "$HERE/../setup/cache.sh"

[ $# -ge 1 ] && [ $# -le 2 ] || die "usage: deploy/kafka/start.sh DIR [PORT]"
need java "Kafka runs on Java 17 or newer"
need python3 "it finds free ports"
mkdir -p "$1" || die "can't make the folder $1"
DIR="$(cd "$1" && pwd)"
if [ -f "$DIR/kafka.pid" ] && kill -0 "$(cat "$DIR/kafka.pid")" 2>/dev/null; then
  die "a broker already runs in $DIR (process $(cat "$DIR/kafka.pid")); stop it with deploy/kafka/stop.sh $1"
fi
LIBS="$("$ROOT/deploy/setup/fetch-kafka.sh")"

# Both sockets are held open until both ports are known, so that they differ.
read -r PORT CONTROLLER_PORT < <(python3 - "${2:-0}" <<'PY'
import socket, sys
sockets = []
for port in (int(sys.argv[1]), 0):
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        s.bind(("127.0.0.1", port))
    except OSError as e:
        sys.exit(f"error: port {port} can't be used: {e.strerror}")
    sockets.append(s)
print(*(s.getsockname()[1] for s in sockets))
PY
) || die "no port to listen on"

if [ -n "${KAFKA_SECURE:-}" ]; then
  need keytool "it makes the broker's certificate and comes with Java"
  PROTOCOL=SASL_SSL
  # What is made from here on holds the password.
  umask 077
  PASSWORD="$(python3 -c 'import secrets; print(secrets.token_hex(16))')"
  export PASSWORD
  STORE=(-keystore "$DIR/broker.p12" -storetype PKCS12 -storepass:env PASSWORD -alias broker)
  rm -f "$DIR/broker.p12"
  keytool -genkeypair "${STORE[@]}" -keyalg RSA -keysize 2048 -validity 30 -dname CN=127.0.0.1 -ext san=ip:127.0.0.1 \
    >/dev/null 2>&1 || die "no certificate could be made"
  keytool -exportcert -rfc "${STORE[@]}" >"$DIR/ca.pem" 2>/dev/null || die "the certificate could not be written"
  echo "$PASSWORD" >"$DIR/password"
  LOGIN='org.apache.kafka.common.security.plain.PlainLoginModule required'
  SECURITY="sasl.enabled.mechanisms=PLAIN
sasl.mechanism.inter.broker.protocol=PLAIN
ssl.keystore.type=PKCS12
ssl.keystore.location=$DIR/broker.p12
ssl.keystore.password=$PASSWORD
ssl.truststore.type=PEM
ssl.truststore.location=$DIR/ca.pem
listener.name.sasl_ssl.plain.sasl.jaas.config=$LOGIN username=\"hypercane\" password=\"$PASSWORD\" user_hypercane=\"$PASSWORD\";"
else
  PROTOCOL=PLAINTEXT
  SECURITY=
fi

if [ -n "${KAFKA_JOIN:-}" ]; then
  VOTERS="$(sed -n 's/^controller.quorum.voters=//p' "$KAFKA_JOIN/server.properties")"
  NODE="process.roles=broker
node.id=2
controller.quorum.voters=$VOTERS
listeners=$PROTOCOL://127.0.0.1:$PORT"
else
  NODE="process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:$CONTROLLER_PORT
listeners=$PROTOCOL://127.0.0.1:$PORT,CONTROLLER://127.0.0.1:$CONTROLLER_PORT"
fi

cat >"$DIR/server.properties" <<PROPERTIES
$NODE
advertised.listeners=$PROTOCOL://127.0.0.1:$PORT
controller.listener.names=CONTROLLER
listener.security.protocol.map=$PROTOCOL:$PROTOCOL,CONTROLLER:PLAINTEXT
inter.broker.listener.name=$PROTOCOL
log.dirs=$DIR/data
auto.create.topics.enable=false
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
group.initial.rebalance.delay.ms=0
offsets.topic.num.partitions=1
transaction.state.log.num.partitions=1
message.max.bytes=67108864
replica.fetch.max.bytes=67108864
$SECURITY
${KAFKA_PROPERTIES:-}
PROPERTIES

JAVA=(java "-Xmx${KAFKA_HEAP:-512m}" -XX:+UseSerialGC -Dorg.slf4j.simpleLogger.defaultLogLevel=warn
  -Dorg.slf4j.simpleLogger.log.kafka.server.KafkaRaftServer=info -Dorg.slf4j.simpleLogger.showDateTime=true -cp "$LIBS/*")
LOG="$DIR/kafka.log"
if [ ! -f "$DIR/data/meta.properties" ]; then
  "${JAVA[@]}" kafka.tools.StorageTool format --cluster-id hypercane-one-node-0w --config "$DIR/server.properties" \
    >"$LOG" 2>&1 || {
    tail -n 20 "$LOG" >&2
    die "the storage in $DIR/data could not be formatted"
  }
fi
: >"$LOG"
nohup "${JAVA[@]}" kafka.Kafka "$DIR/server.properties" >>"$LOG" 2>&1 </dev/null &
PID=$!
echo "$PID" >"$DIR/kafka.pid"

for _ in $(seq 1 600); do
  if grep -q 'Kafka Server started' "$LOG"; then
    echo "127.0.0.1:$PORT" | tee "$DIR/kafka.brokers"
    exit 0
  fi
  if ! kill -0 "$PID" 2>/dev/null; then break; fi
  sleep 0.1
done
tail -n 20 "$LOG" >&2
kill "$PID" 2>/dev/null || true
rm -f "$DIR/kafka.pid"
die "the broker did not start within 60 seconds; its log is $LOG"
