"""Prints what the console exporters of opentelemetry-sdk 1.44.0 print for the data of the console tests.

    pip install opentelemetry-sdk==1.44.0 && python console.py > console.jsonl
"""

import re

from opentelemetry import trace
from opentelemetry.metrics import Observation
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import ConsoleMetricExporter, PeriodicExportingMetricReader
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import ConsoleSpanExporter, SimpleSpanProcessor
from opentelemetry.sdk.trace.id_generator import IdGenerator
from opentelemetry.trace import Link, NonRecordingSpan, SpanContext, SpanKind, Status, StatusCode, TraceFlags
from opentelemetry.trace.span import TraceState

START = 1_700_000_000_000_000_000
END = START + 1_000_000_000


class Ids(IdGenerator):
    def generate_span_id(self):
        return 0xCD

    def generate_trace_id(self):
        return 0xAB


# In the order of the keys, which is that of our lines.
resource = Resource({"list": ["x", "y"], "ok": True, "process.pid": 42, "ratio": 0.5, "service.name": "nemo-gym/a"})


def spans():
    provider = TracerProvider(resource=resource, id_generator=Ids())
    exporter = ConsoleSpanExporter(formatter=lambda span: span.to_json(indent=None) + "\n")
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracer = provider.get_tracer("nemo.lens")

    state = TraceState([("a", "b"), ("k", "it's"), ("q", "\"'\\")])
    parent = NonRecordingSpan(SpanContext(0xAB, 0x1112131415161718, True, TraceFlags(3), state))
    rich = tracer.start_span(
        "POST /verify",
        context=trace.set_span_in_context(parent),
        kind=SpanKind.SERVER,
        start_time=START + 123_456_789,
        attributes={
            "s": "é🙂\n\"\\\x00\x7f\u2028/",
            "i": 3,
            "f": 1.0,
            "b": True,
            "as": ["a", "b"],
            "ai": [1, 2],
            "af": [1.5, 2.0],
            "ab": [True, False],
            "empty": [],
            "nan": float("nan"),
            "inf": float("inf"),
            "minf": float("-inf"),
            "big": 1e22,
        },
        links=[
            Link(SpanContext(1, 2, True, TraceFlags(1), TraceState([("q", "z")])), {"l": 1}),
            Link(SpanContext(5, 6, False)),
        ],
    )
    rich.add_event("exception", {"exception.type": "ValueError", "exception.escaped": "False"}, timestamp=START)
    rich.add_event("bare", timestamp=START + 1_999)
    rich.set_status(Status(StatusCode.ERROR, "bad"))
    rich.end(END)

    for name, kind, status in [
        ("internal", SpanKind.INTERNAL, None),
        ("client", SpanKind.CLIENT, Status(StatusCode.OK)),
        ("producer", SpanKind.PRODUCER, Status(StatusCode.ERROR, "")),
        ("consumer", SpanKind.CONSUMER, None),
    ]:
        span = tracer.start_span(name, kind=kind, start_time=START)
        if status:
            span.set_status(status)
        span.end(END)


def metrics():
    # Every point in time becomes a zero.
    formatter = lambda metrics: re.sub(r"\b\d{19}\b", "0", metrics.to_json(indent=None)) + "\n"
    reader = PeriodicExportingMetricReader(ConsoleMetricExporter(formatter=formatter), export_interval_millis=1e9)
    provider = MeterProvider(resource=resource, metric_readers=[reader])
    meter = provider.get_meter("nemo.lens")
    histogram = meter.create_histogram(
        "histogram", unit="ms", description="a distribution", explicit_bucket_boundaries_advisory=[100.0, 250.5]
    )
    histogram.record(12.5)
    histogram.record(300.0)
    meter.create_counter("counter", unit="1").add(2, {"a": "b", "n": 1})
    meter.create_up_down_counter("up_down").add(-2)
    meter.create_gauge("gauge").set(0.5)
    meter.create_gauge("integer_gauge").set(3, {"z": True})
    meter.create_observable_gauge("observable", [lambda options: [Observation(7, {"x": "y"})]])
    provider.force_flush()
    reader.shutdown = lambda *args, **kwargs: None


spans()
metrics()
