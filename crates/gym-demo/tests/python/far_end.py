"""A member of the fleet in Python: a model server, and a client that starts traces.

    far_end.py serve           model server on the listening socket that is standard input
    far_end.py call URL BODY   posts the body inside a span and prints the trace's ids

Spans go to standard output, one JSON object per line. So does what arrived as `traceparent`, as
{"received": ...}.
"""

import json
import os
import signal
import socket
import sys
import threading
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from opentelemetry import propagate, trace
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import ConsoleSpanExporter, SimpleSpanProcessor
from opentelemetry.trace import SpanKind

ROLLOUT_ID = "nemo.gym.rollout.id"
SERVER_NAME = "nemo.gym.server.name"

stdout_lock = threading.Lock()


def write_line(value):
    with stdout_lock:
        sys.stdout.write(json.dumps(value) + "\n")
        sys.stdout.flush()


class LineExporter(ConsoleSpanExporter):
    def __init__(self):
        super().__init__(formatter=lambda span: span.to_json(indent=None) + "\n")

    def export(self, spans):
        with stdout_lock:
            return super().export(spans)


def set_up(server_name):
    group = os.environ.get("OTEL_SERVICE_NAME", "nemo-gym")
    # The sampler is the SDK's own choice, by OTEL_TRACES_SAMPLER.
    provider = TracerProvider(resource=Resource.create({"service.name": f"{group}/{server_name}"}))
    provider.add_span_processor(SimpleSpanProcessor(LineExporter()))
    trace.set_tracer_provider(provider)
    return trace.get_tracer("far_end")


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    tracer = None
    server_name = ""

    def do_GET(self):
        self.answer({"ok": True})

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        rollout_id, path = None, self.path
        if path.startswith("/ng-rollout/"):
            rollout_id, path = path.removeprefix("/ng-rollout/").split("/", 1)
            path = "/" + path
        write_line({"received": self.headers.get("traceparent"), "rollout": rollout_id})
        context = propagate.extract({name.lower(): value for name, value in self.headers.items()})
        attributes = {SERVER_NAME: self.server_name}
        if rollout_id is not None:
            attributes[ROLLOUT_ID] = rollout_id
        with self.tracer.start_as_current_span(f"POST {path}", context=context, kind=SpanKind.SERVER):
            with self.tracer.start_as_current_span("gym.model.responses", attributes=attributes):
                self.answer(self.respond(body["input"]))

    def respond(self, conversation):
        last = conversation[-1]
        if last.get("type") == "function_call_output":
            weather = json.loads(last["output"])
            text = f"The weather in {weather['city']}: {weather['weather_description']}."
            item = {"type": "message", "role": "assistant", "content": text}
        else:
            arguments = json.dumps({"city": "Oslo"})
            item = {"type": "function_call", "call_id": "call_py", "name": "get_weather", "arguments": arguments}
        return {"id": "resp_py", "object": "response", "model": "far-end", "output": [item]}

    def answer(self, value):
        data = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *arguments):
        pass


def serve():
    Handler.server_name = os.environ.get("GYM_DEMO_SERVER_NAME", "far_end")
    Handler.tracer = set_up(Handler.server_name)
    server = ThreadingHTTPServer(("", 0), Handler, bind_and_activate=False)
    server.socket.close()
    server.socket = socket.socket(fileno=0)
    server.daemon_threads = True
    signal.signal(signal.SIGTERM, lambda *_: threading.Thread(target=server.shutdown).start())
    server.serve_forever()
    trace.get_tracer_provider().shutdown()


def call(url, body):
    tracer = set_up("client")
    with tracer.start_as_current_span("call", kind=SpanKind.CLIENT) as span:
        headers = {"content-type": "application/json"}
        propagate.inject(headers)
        request = urllib.request.Request(url, data=body.encode(), headers=headers)
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(request, timeout=30) as response:
            response.read()
        context = span.get_span_context()
        write_line({"trace_id": f"{context.trace_id:032x}", "span_id": f"{context.span_id:016x}"})


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve()
    else:
        call(sys.argv[2], sys.argv[3])
