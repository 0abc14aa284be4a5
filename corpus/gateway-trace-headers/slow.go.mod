module corpus/gateway-trace-headers

go 1.26.8

require (
	go.opentelemetry.io/otel v1.21.0
	go.opentelemetry.io/otel/trace v1.21.0
)
