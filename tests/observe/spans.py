"""End-to-end tests of spans: what a collector gets, and how traces go on."""
import sqlite3
import time

from support import FAST, PARENT, Collector, Project, attributes, eventually, module, parse_exposition, test

@test
def spans_reach_a_collector_and_traces_go_on(t):
    with Collector() as collector:
        env = {**FAST, "OTEL_EXPORTER_OTLP_ENDPOINT": collector.url, "OTEL_SERVICE_NAME": "orders",
               "OTEL_RESOURCE_ATTRIBUTES": "deployment.environment.name=test",
               "OTEL_EXPORTER_OTLP_HEADERS": "api-key=a%20b"}
        with t.server(t.calling_app(collector.url + "/stock"), environment=env) as s:
            assert s.post("/Caller", headers={"traceparent": PARENT, "tracestate": "v=1"})[0] == 200
            spans = eventually(lambda: len(collector.spans()) >= 2 and collector.spans(), "two spans")
        root = next(x for x in spans if x["kind"] == 2)
        request = next(x for x in spans if x["kind"] == 3)
        assert root["traceId"] == "0af7651916cd43dd8448eb211c80319c" == request["traceId"]
        assert root["parentSpanId"] == "b7ad6b7169203331" and root["traceState"] == "v=1"
        assert root["name"] == "POST /Caller" and request["parentSpanId"] == root["spanId"]
        about = attributes(root)
        assert about["http.request.method"] == "POST" and about["http.response.status_code"] == "200"
        assert about["messageflow.name"] == "Hello" and about["messageflow.application"] == "Caller"
        assert attributes(request)["http.response.status_code"] == "200"
        for span in (root, request):
            assert int(span["startTimeUnixNano"]) <= int(span["endTimeUnixNano"])
            assert abs(int(span["startTimeUnixNano"]) / 1e9 - time.time()) < 600
            assert span["status"] == {}
        assert int(request["endTimeUnixNano"]) <= int(root["endTimeUnixNano"])
        sent = {k.lower(): v for k, v in collector.requests[0].items()}
        assert sent["traceparent"] == f"00-{root['traceId']}-{request['spanId']}-01"
        assert sent["tracestate"] == "v=1"
        resource = attributes(collector.batches[0]["resourceSpans"][0]["resource"])
        assert resource["service.name"] == "orders" and resource["deployment.environment.name"] == "test"
        path, headers = collector.headers[0]
        assert path == "/v1/traces" and headers["Content-Type"] == "application/json"
        assert headers["api-key"] == "a b"


@test
def traces_go_through_callable_flows(t):
    with Collector() as collector:
        shop = t.calling_flows(collector.url + "/stock")
        env = {**FAST, "OTEL_EXPORTER_OTLP_ENDPOINT": collector.url}
        with t.server(shop, environment=env) as s:
            assert s.post("/Shop", headers={"traceparent": PARENT, "tracestate": "v=1"})[0] == 200
            spans = eventually(lambda: len(collector.spans()) >= 4 and collector.spans(), "four spans")
        by_name = {x["name"]: x for x in spans}
        assert set(by_name) == {"POST /Shop", "Invoke", "Price Called", "Ask"}, by_name.keys()
        assert {x["traceId"] for x in spans} == {PARENT[3:35]}
        for child, parent in [("Invoke", "POST /Shop"), ("Price Called", "Invoke"), ("Ask", "Price Called")]:
            assert by_name[child]["parentSpanId"] == by_name[parent]["spanId"], child
        assert attributes(by_name["POST /Shop"])["url.scheme"] == "http"
        # Without spans what came is passed on as it is.
        with t.server(shop) as s:
            assert s.post("/Shop", headers={"traceparent": PARENT, "tracestate": "v=1"})[0] == 200
        sent = {k.lower(): v for k, v in collector.requests[1].items()}
    assert sent["traceparent"] == PARENT and sent["tracestate"] == "v=1"


@test
def errors_are_in_spans(t):
    with Collector() as collector:
        app = t.app("THROW USER EXCEPTION MESSAGE 2951 VALUES('no');")
        with t.server(app, "--otlp", collector.url, environment=FAST) as s:
            assert s.post("/App")[0] == 500
            span = eventually(collector.spans, "a span")[0]
    assert span["status"]["code"] == 2 and "2951" in span["status"]["message"], span["status"]
    assert "parentSpanId" not in span
    event = span["events"][0]
    assert event["name"] == "exception" and attributes(event)["exception.type"].startswith("BIP2951")


@test
def every_node_has_a_span_when_asked(t):
    with Collector() as collector:
        t.conf("ResourceManagers:\n"
               "  OpenTelemetryManager: {openTelemetryEnabled: true, exporterOtlpHttpUrl: '%s/v1/traces',\n"
               "                         openTelemetryServiceName: shop, openTelemetryHostName: h1}\n"
               "Millstream: {Tracing: {nodeSpans: all}}\n" % collector.url)
        with t.server(t.app(), environment=FAST) as s:
            s.post("/App")
            spans = eventually(lambda: len(collector.spans()) >= 3 and collector.spans(), "three spans")
    resource = attributes(collector.batches[0]["resourceSpans"][0]["resource"])
    assert resource["service.name"] == "shop" and resource["host.name"] == "h1", resource
    by_name = {x["name"]: x for x in spans}
    assert set(by_name) == {"POST /App", "Do", "Reply"}, by_name.keys()
    assert by_name["Do"]["parentSpanId"] == by_name["POST /App"]["spanId"]
    assert by_name["Reply"]["parentSpanId"] == by_name["Do"]["spanId"]
    assert by_name["Do"]["kind"] == 1


# ---------------------------------------------------------------- asynchronous pairs, other servers


def collected(collector, names):
    """Spans by name, as soon as there are all of `names`."""
    def found():
        by_name = {x["name"]: x for x in collector.spans()}
        return by_name if names <= set(by_name) else None
    by_name = eventually(found, f"spans {sorted(names)}, only {sorted(x['name'] for x in collector.spans())}")
    assert set(by_name) == names, by_name.keys()
    return by_name


def assert_chain(by_name, chain):
    """Each span of `chain` is below the one before it, all in the trace of PARENT."""
    assert {x["traceId"] for x in by_name.values()} == {PARENT[3:35]}, by_name
    assert by_name[chain[0]]["parentSpanId"] == PARENT[36:52]
    for parent, child in zip(chain, chain[1:]):
        assert by_name[child]["parentSpanId"] == by_name[parent]["spanId"], f"{child} is not below {parent}"


def http_async_app(t, url):
    project = Project(t.folder, "Async")
    project.flow("Send", [("in", "ComIbmWSInput", "In", {"URLSpecifier": "/send", "messageDomainProperty": "XMLNSC"}),
                          ("send", "ComIbmHTTPAsyncRequest", "Send", {"URLSpecifier": url, "timeoutForServer": "10",
                                                                      "asyncResponseCorrelator": "pair"})],
                 ["in.out -> send.in"])
    project.flow("Got", [("in", "ComIbmHTTPAsyncResponse", "Answer", {"asyncRequestCorrelator": "pair",
                                                                      "messageDomainProperty": "XMLNSC"}),
                         ("ask", "ComIbmWSRequest", "Ask", {"URLSpecifier": url}),
                         ("reply", "ComIbmWSReply", "Reply", {})],
                 ["in.out -> ask.in", "in.error -> reply.in", "in.failure -> reply.in", "ask.out -> reply.in"])
    return t.folder / "Async"


@test
def traces_go_through_http_async_pairs(t):
    with Collector() as collector:
        app = http_async_app(t, collector.url + "/stock")
        with t.server(app, "--otlp", collector.url, environment=FAST) as s:
            assert s.post("/send", headers={"traceparent": PARENT, "tracestate": "v=1"})[0] == 200
            by_name = collected(collector, {"POST /send", "Send", "Got Answer", "Ask"})
        assert_chain(by_name, ["POST /send", "Send", "Got Answer", "Ask"])
        for request, name in zip(collector.requests, ("Send", "Ask")):
            sent = {k.lower(): v for k, v in request.items()}
            assert sent["traceparent"] == f"00-{PARENT[3:35]}-{by_name[name]['spanId']}-01"
            assert sent["tracestate"] == "v=1"
        # Without spans what came is passed on, by the second flow too.
        collector.requests.clear()
        with t.server(app) as s:
            assert s.post("/send", headers={"traceparent": PARENT, "tracestate": "v=1"})[0] == 200
        for request in collector.requests:
            sent = {k.lower(): v for k, v in request.items()}
            assert sent["traceparent"] == PARENT and sent["tracestate"] == "v=1", sent
        assert len(collector.requests) == 2


def rest_client_app(t, url):
    """/ask: a RESTRequest; /later: its asynchronous pair. Operation "put" of a document at `url`."""
    project = Project(t.folder, "Client")
    (t.folder / "Client/backend.yaml").write_text(
        "openapi: 3.0.3\ninfo: {title: stock, version: '1'}\nservers: [{url: '%s'}]\npaths:\n  /stock:\n    post:\n"
        "      operationId: put\n      requestBody: {content: {application/xml: {schema: {type: object}}}}\n"
        "      responses: {'200': {description: ok}}\n" % url)
    rest = {"definitionType": "openapi_3", "definitionFile": "backend.yaml", "operationName": "put"}
    project.flow("Ask", [("in", "ComIbmWSInput", "In", {"URLSpecifier": "/ask", "messageDomainProperty": "XMLNSC"}),
                         ("ask", "ComIbmRESTRequest", "Ask", rest), ("reply", "ComIbmWSReply", "Reply", {})],
                 ["in.out -> ask.in", "ask.out -> reply.in"])
    project.flow("Later", [("in", "ComIbmWSInput", "In", {"URLSpecifier": "/later", "messageDomainProperty": "XMLNSC"}),
                           ("ask", "ComIbmRESTAsyncRequest", "Send", {**rest, "asyncResponseCorrelator": "pair"})],
                 ["in.out -> ask.in"])
    project.flow("Got", [("in", "ComIbmRESTAsyncResponse", "Answer", {"asyncRequestCorrelator": "pair"}),
                         ("ask", "ComIbmRESTRequest", "Again", rest), ("reply", "ComIbmWSReply", "Reply", {})],
                 ["in.out -> ask.in", "ask.out -> reply.in", "in.error -> reply.in", "in.failure -> reply.in"])
    return t.folder / "Client"


@test
def traces_go_through_rest_async_pairs(t):
    with Collector() as collector:
        with t.server(rest_client_app(t, collector.url), "--otlp", collector.url, environment=FAST) as s:
            status, text = s.post("/later", headers={"traceparent": PARENT, "tracestate": "v=1"})
            assert status == 200, text
            by_name = collected(collector, {"POST /later", "Send", "Got Answer", "Again"})
    assert_chain(by_name, ["POST /later", "Send", "Got Answer", "Again"])
    sent = {k.lower(): v for k, v in collector.requests[1].items()}
    assert sent["traceparent"] == f"00-{PARENT[3:35]}-{by_name['Again']['spanId']}-01"


def callable_apps(t, statement="SET OutputRoot = InputRoot; RETURN TRUE;"):
    """Shop: /ask calls flow Price of Stock, /later does so asynchronously."""
    stock = Project(t.folder, "Stock")
    stock.flow("Price", [("in", "ComIbmCallableFlowInput", "Called", {"callableInputEndpoint": "price"}),
                         ("do", "ComIbmCompute", "Do", {"computeExpression": "esql://routine/#M.Main"}),
                         ("back", "ComIbmCallableFlowReply", "Back", {})],
               ["in.out -> do.in", "do.out -> back.in"])
    stock.esql("Price", module("M", statement))
    shop = Project(t.folder, "Shop")
    target = {"targetApplication": "Stock", "targetEndpointName": "price"}
    shop.flow("Ask", [("in", "ComIbmWSInput", "In", {"URLSpecifier": "/ask", "messageDomainProperty": "XMLNSC"}),
                      ("call", "ComIbmCallableFlowInvoke", "Invoke", target), ("reply", "ComIbmWSReply", "Reply", {})],
              ["in.out -> call.in", "call.out -> reply.in"])
    shop.flow("Later", [("in", "ComIbmWSInput", "In", {"URLSpecifier": "/later", "messageDomainProperty": "XMLNSC"}),
                        ("call", "ComIbmCallableFlowAsyncInvoke", "Send", {**target, "asyncResponseCorrelator": "pair"})],
              ["in.out -> call.in"])
    shop.flow("Got", [("in", "ComIbmCallableFlowAsyncResponse", "Answer", {"asyncResponseCorrelator": "pair"}),
                      ("reply", "ComIbmWSReply", "Reply", {})],
              ["in.out -> reply.in", "in.failure -> reply.in"])
    return t.folder / "Stock", t.folder / "Shop"


@test
def traces_go_through_callable_async_pairs(t):
    with Collector() as collector:
        with t.server(*callable_apps(t), "--otlp", collector.url, environment=FAST) as s:
            assert s.post("/later", headers={"traceparent": PARENT})[0] == 200
            by_name = collected(collector, {"POST /later", "Send", "Price Called", "Got Answer"})
    assert_chain(by_name, ["POST /later", "Send", "Price Called"])
    assert_chain(by_name, ["POST /later", "Send", "Got Answer"])


@test
def traces_go_to_callable_flows_of_other_servers(t):
    with Collector() as collector:
        stock, shop = callable_apps(t)
        conf = "Millstream:\n  CallableFlows:\n    Secret: 'sixteen letters!'\n"
        folders = []
        for name in ("one", "two"):
            folders.append(t.folder / name)
            folders[-1].mkdir()
        (folders[0] / "server.conf.yaml").write_text("serverName: one\n" + conf)
        with t.server(stock, "--work-dir", folders[0], "--otlp", collector.url, environment=FAST, work_dir=False) as callee:
            (folders[1] / "server.conf.yaml").write_text(
                "serverName: two\n" + conf + f"    Remote: {{Stock/price: 'http://127.0.0.1:{callee.port}'}}\n")
            with t.server(shop, "--work-dir", folders[1], "--otlp", collector.url, environment=FAST, work_dir=False) as caller:
                assert caller.post("/ask", headers={"traceparent": PARENT, "tracestate": "v=1"})[0] == 200
                by_name = collected(collector, {"POST /ask", "Invoke", "Price Called"})
                assert_chain(by_name, ["POST /ask", "Invoke", "Price Called"])
                assert by_name["Price Called"]["traceState"] == "v=1"
                collector.batches.clear()
                assert caller.post("/later", headers={"traceparent": PARENT})[0] == 200
                by_name = collected(collector, {"POST /later", "Send", "Price Called", "Got Answer"})
                assert_chain(by_name, ["POST /later", "Send", "Price Called"])
                assert_chain(by_name, ["POST /later", "Send", "Got Answer"])


# ---------------------------------------------------------------- failures


def assert_failed(span, *parts):
    """Marked as an error, with an exception event."""
    assert span["status"]["code"] == 2, span
    for part in parts:
        assert part in span["status"]["message"], span["status"]
    events = [e for e in span.get("events", []) if e["name"] == "exception"]
    assert len(events) == 1 and attributes(events[0])["exception.message"], span
    assert attributes(span)["error.type"] == attributes(events[0])["exception.type"]


@test
def a_request_without_answer_is_a_failed_span(t):
    with Collector() as collector, Collector() as gone:
        dead = gone.url
        gone.server.server_close()
        apps = [t.calling_app(dead + "/x", "Http"), rest_client_app(t, dead)]
        with t.server(*apps, "--otlp", collector.url, environment=FAST) as s:
            assert s.post("/Http")[0] == 500
            by_name = collected(collector, {"POST /Http", "Call"})
            assert_failed(by_name["Call"])
            assert by_name["POST /Http"]["status"]["code"] == 2 and "events" not in by_name["POST /Http"]
            collector.batches.clear()
            assert s.post("/ask")[0] == 500
            by_name = collected(collector, {"POST /ask", "Ask"})
            assert_failed(by_name["Ask"])


@test
def a_request_with_a_wired_failure_is_a_failed_span_of_a_good_message(t):
    with Collector() as collector:
        project = Project(t.folder, "App")
        project.flow("Hello", [("in", "ComIbmWSInput", "In", {"URLSpecifier": "/App", "messageDomainProperty": "XMLNSC"}),
                               ("call", "ComIbmWSRequest", "Call", {"URLSpecifier": "http://127.0.0.1:1/x"}),
                               ("reply", "ComIbmWSReply", "Reply", {})],
                     ["in.out -> call.in", "call.out -> reply.in", "call.failure -> reply.in"])
        with t.server(t.folder / "App", "--otlp", collector.url, environment=FAST) as s:
            assert s.post("/App")[0] == 200
            by_name = collected(collector, {"POST /App", "Call"})
    assert_failed(by_name["Call"])
    assert by_name["POST /App"]["status"] == {}, by_name["POST /App"]


@test
def an_error_status_is_a_failed_span(t):
    with Collector() as collector:
        apps = [t.calling_app(collector.url + "/broken", "Http")]
        with t.server(*apps, "--otlp", collector.url, environment=FAST) as s:
            assert s.post("/Http")[0] == 500
            by_name = collected(collector, {"POST /Http", "Call"})
    about = attributes(by_name["Call"])
    assert by_name["Call"]["status"]["code"] == 2
    assert about["http.response.status_code"] == "500" and about["error.type"] == "500", about


@test
def a_failed_call_is_a_failed_span(t):
    with Collector() as collector:
        apps = callable_apps(t, "THROW USER EXCEPTION MESSAGE 2951 VALUES('no');")
        with t.server(*apps, "--otlp", collector.url, environment=FAST) as s:
            assert s.post("/ask")[0] == 500
            by_name = collected(collector, {"POST /ask", "Invoke", "Price Called"})
            assert_failed(by_name["Invoke"], "2951")
            assert_failed(by_name["Price Called"], "2951")
            collector.batches.clear()
            s.post("/later")
            by_name = collected(collector, {"POST /later", "Send", "Price Called", "Got Answer"})
            assert_failed(by_name["Price Called"], "2951")
            assert by_name["Send"]["status"] == {}  # it was sent


@test
def database_statements_have_spans(t):
    sqlite3.connect(t.folder / "shop.db").execute("CREATE TABLE item (id INTEGER PRIMARY KEY)").connection.close()
    t.conf("Millstream: {DataSources: {SHOP: 'Driver=SQLite3;Database=%s'}}\n" % (t.folder / "shop.db"))
    with Collector() as collector:
        with t.server(t.database_app(), "--otlp", collector.url, environment=FAST) as s:
            assert s.post("/App", "<a>1</a>")[0] == 200
            by_name = collected(collector, {"POST /App", "INSERT SHOP"})
            span = by_name["INSERT SHOP"]
            assert span["parentSpanId"] == by_name["POST /App"]["spanId"] and span["kind"] == 3
            about = attributes(span)
            assert about["db.namespace"] == "SHOP" and about["db.operation.name"] == "INSERT", about
            assert "?" in about["db.query.text"] and "messageflow.node" in about, about
            assert span["status"] == {}
            collector.batches.clear()
            assert s.post("/App", "<a>1</a>")[0] == 500
            span = collected(collector, {"POST /App", "INSERT SHOP"})["INSERT SHOP"]
    assert_failed(span)
    assert attributes(span)["db.response.status_code"], span


@test
def sampling_and_switches(t):
    with Collector() as collector:
        env = {**FAST, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": collector.url + "/custom/traces"}
        with t.server(t.calling_app(collector.url + "/stock"), environment=env) as s:
            # The parent is not sampled, so neither is this; the decision travels on.
            assert s.post("/Caller", headers={"traceparent": PARENT[:-1] + "0"})[0] == 200
            sent = {k.lower(): v for k, v in collector.requests[0].items()}
            assert sent["traceparent"].endswith("-00") and sent["traceparent"][3:35] == PARENT[3:35]
            # Switched off for the flow: what came goes on unchanged.
            path = "/apiv2/applications/Caller/messageflows/Hello/observability"
            status, now = s.ask("PATCH", path, {"properties": {"openTelemetryEnabled": "false"}})
            assert status == 200 and now["openTelemetryEnabled"] == "false", now
            assert s.post("/Caller", headers={"traceparent": PARENT})[0] == 200
            assert {k.lower(): v for k, v in collector.requests[1].items()}["traceparent"] == PARENT
            # At the flow itself as in the product.
            flow = path.removesuffix("/observability")
            assert s.ask("PATCH", flow, {"properties": {"openTelemetryEnabled": "inherit"}})[0] == 200
            assert s.post("/Caller")[0] == 200
            spans = eventually(lambda: len(collector.spans()) >= 2 and collector.spans(), "spans")
            assert len({x["traceId"] for x in spans}) == 1
            # For a whole application, unless the flow says otherwise.
            whole = "/apiv2/applications/Caller"
            assert s.ask("PATCH", whole, {"properties": {"openTelemetryEnabled": "false"}})[0] == 200
            assert s.post("/Caller", headers={"traceparent": PARENT})[0] == 200
            assert {k.lower(): v for k, v in collector.requests[-1].items()}["traceparent"] == PARENT
            assert s.ask("PATCH", flow, {"properties": {"openTelemetryEnabled": "true"}})[0] == 200
            assert s.post("/Caller", headers={"traceparent": PARENT})[0] == 200
            assert {k.lower(): v for k, v in collector.requests[-1].items()}["traceparent"] != PARENT
            assert s.ask("PATCH", whole, {"properties": {"openTelemetryEnabled": "no"}})[0] == 400
            assert s.ask("PATCH", whole + "s", {"properties": {"openTelemetryEnabled": "false"}})[0] == 404
        assert collector.headers[0][0] == "/custom/traces"


@test
def without_tracing_a_context_is_passed_on(t):
    with Collector() as back_end, t.server(t.calling_app(back_end.url + "/stock")) as s:
        s.post("/Caller", headers={"traceparent": PARENT, "tracestate": "v=1"})
        s.post("/Caller", headers={"traceparent": "nonsense"})
        s.post("/Caller")
    sent = [{k.lower(): v for k, v in r.items()} for r in back_end.requests]
    assert sent[0]["traceparent"] == PARENT and sent[0]["tracestate"] == "v=1"
    assert "traceparent" not in sent[1] and "traceparent" not in sent[2]


@test
def a_dead_collector_costs_spans_and_no_message(t):
    with Collector(status=400) as collector:
        env = {**FAST, "OTEL_BSP_MAX_QUEUE_SIZE": "10", "OTEL_BSP_MAX_EXPORT_BATCH_SIZE": "5"}
        with t.server(t.app(), "--otlp", collector.url, environment=env) as s:
            for _ in range(40):
                assert s.post("/App")[0] == 200

            def dropped():
                samples = parse_exposition(s.metrics())
                return samples["millstream_spans_dropped_total", ""] == 40 and samples
            samples = eventually(dropped, "all spans are dropped")
            assert samples["millstream_spans_exported_total", ""] == 0
            assert samples["millstream_span_export_failures_total", ""] >= 1
            eventually(lambda: [line for line in s.errors if "MS1715" in line], "a line in the log")
            logged = [line for line in s.errors if "MS1715" in line]
            assert len(logged) == 1 and "MS1716" in logged[0], s.errors


@test
def bad_otel_settings_are_refused(t):
    for env, words in (({"OTEL_TRACES_SAMPLER": "sometimes"}, "MS1714"),
                       ({"OTEL_BSP_MAX_QUEUE_SIZE": "many"}, "a number from 1"),
                       ({"OTEL_EXPORTER_OTLP_HEADERS": "novalue"}, "name=value")):
        server = t.server(t.app(), environment={"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", **env})
        assert server.process.wait(timeout=30) == 1
        eventually(lambda: words in "\n".join(server.errors), words)
    # Disabled, nothing of it is read.
    with t.server(t.app(), environment={"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "OTEL_SDK_DISABLED": "true",
                                "OTEL_TRACES_SAMPLER": "sometimes"}) as s:
        assert "millstream_spans" not in s.metrics()
