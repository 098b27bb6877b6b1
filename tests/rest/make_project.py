"""Writes the REST API projects that run.py drives, in the form the Toolkit writes them."""
import os

FLOW_HEAD = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<ecore:EPackage xmi:version="2.0" xmlns:xmi="http://www.omg.org/XMI" {ns} '
    'xmlns:ecore="http://www.eclipse.org/emf/2002/Ecore" xmlns:eflow="http://www.ibm.com/wbi/2005/eflow" '
    'xmlns:utility="http://www.ibm.com/wbi/2005/eflow_utility" nsURI="{uri}" nsPrefix="{prefix}">\n'
    '  <eClassifiers xmi:type="eflow:FCMComposite" name="FCMComposite_1" nodeLayoutStyle="SPLINE">\n'
    '    <eSuperTypes href="http://www.ibm.com/wbi/2005/eflow#//FCMBlock"/>\n    <composition>\n')
FLOW_TAIL = '    </composition>\n    <propertyOrganizer/>\n    <stickyBoard/>\n  </eClassifiers>\n</ecore:EPackage>\n'


def escape(text):
    for plain, escaped in (("&", "&amp;"), ("<", "&lt;"), ('"', "&quot;")):
        text = text.replace(plain, escaped)
    return text


class Flow:
    """One .msgflow or .subflow: nodes by add(), connections by wire(), then write()."""

    def __init__(self, folder, path):
        self.folder, self.path = folder, path
        self.types, self.nodes, self.wires = [], [], []

    def add(self, type_, label, rows="", xid=None, **properties):
        xid = xid or f"FCMComposite_1_{len(self.nodes) + 1}"
        if type_.startswith("eflow:"):
            text = f'<translation xmi:type="utility:TranslatableString" key="{label}" bundleName="b" pluginId="p"/>'
            self.nodes.append(f'      <nodes xmi:type="{type_}" xmi:id="{xid}" location="9,9">{text}</nodes>\n')
            return xid
        uri = type_ if type_.endswith(".subflow") else type_ + ".msgnode"
        if uri not in self.types:
            self.types.append(uri)
        attributes = "".join(f' {name}="{escape(value)}"' for name, value in properties.items())
        self.nodes.append(
            f'      <nodes xmi:type="{uri}:FCMComposite_1" xmi:id="{xid}" location="9,9"{attributes}>{rows}'
            f'<translation xmi:type="utility:ConstantString" string="{label}"/></nodes>\n')
        return xid

    def wire(self, source, terminal, target, into="InTerminal.in"):
        self.wires.append(
            f'      <connections xmi:type="eflow:FCMConnection" xmi:id="FCMConnection_{len(self.wires) + 1}" '
            f'targetNode="{target}" sourceNode="{source}" sourceTerminalName="{terminal}" '
            f'targetTerminalName="{into}"/>\n')

    def write(self):
        namespaces = " ".join(f'xmlns:{t}="{t}"' for t in self.types)
        head = FLOW_HEAD.format(ns=namespaces, uri=self.path, prefix=self.path.replace("/", "_"))
        write(os.path.join(self.folder, self.path),
              head + "".join(self.nodes) + "".join(self.wires) + FLOW_TAIL)


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def write_project(folder, natures, references=()):
    names = "".join(f"<nature>{n}</nature>" for n in natures)
    projects = "".join(f"<project>{r}</project>" for r in references)
    write(os.path.join(folder, ".project"),
          f"<projectDescription><name>{os.path.basename(folder)}</name><projects>{projects}</projects>"
          f"<natures>{names}</natures></projectDescription>")


def write_subflow(folder, name, module):
    flow = Flow(folder, name + ".subflow")
    flow.add("eflow:FCMSource", "Input", xid="InTerminal.Input_1")
    compute = flow.add("ComIbmCompute", "Compute", computeExpression=f"esql://routine/#{module}.Main",
                       computeMode="all")
    flow.add("eflow:FCMSink", "Output", xid="OutTerminal.Output_1")
    flow.wire("InTerminal.Input_1", "OutTerminal.out", compute)
    flow.wire(compute, "OutTerminal.out", "OutTerminal.Output_1")
    flow.write()


def write_rest_api(folder, document, text, url, operations, handlers=(), validations="", **properties):
    """`operations`: name -> ESQL module; `handlers`: terminal -> ESQL module."""
    write_project(folder, ["com.ibm.etools.mft.restapi.ui.Nature",
                           "com.ibm.etools.msgbroker.tooling.applicationNature",
                           "com.ibm.etools.msgbroker.tooling.messageBrokerProjectNature"])
    write(os.path.join(folder, document), text)
    name = os.path.basename(folder)
    listed = "".join(f'<operation name="{o}" implementation="{o}.subflow"/>' for o in operations)
    kinds = "".join(f'<errorHandler type="{t.upper()}" implementation="{t}Handler.subflow"/>' for t in dict(handlers))
    write(os.path.join(folder, "restapi.descriptor"),
          '<ns2:restapiDescriptor xmlns="http://com.ibm.etools.mft.descriptor.base" '
          f'xmlns:ns2="http://com.ibm.etools.mft.descriptor.restapi" implementation="gen/{name}.msgflow" '
          f'definitionFile="{document}" definitionType="openapi_3"><references/><operations>{listed}</operations>'
          f'<errorHandlers>{kinds}</errorHandlers>{validations}</ns2:restapiDescriptor>')
    flow = Flow(folder, f"gen/{name}.msgflow")
    start = flow.add("ComIbmWSInput", "HTTP Input", URLSpecifier=url, messageDomainProperty="JSON",
                     parseQueryString="true", **properties)
    route = flow.add("ComIbmRouteToLabel", "RouteToLabel")
    reply = flow.add("ComIbmWSReply", "HTTP Reply")
    flow.wire(start, "OutTerminal.out", route)
    for operation, module in operations.items():
        write_subflow(folder, operation, module)
        label = flow.add("ComIbmLabel", operation, labelName=operation)
        use = flow.add(f"{operation}.subflow", f"{operation} (Implementation)")
        flow.wire(label, "OutTerminal.out", use, "InTerminal.Input_1")
        flow.wire(use, "OutTerminal.Output_1", reply)
    for terminal, module in dict(handlers).items():
        write_subflow(folder, f"{terminal}Handler", module)
        use = flow.add(f"{terminal}Handler.subflow", f"{terminal} Handler")
        flow.wire(start, f"OutTerminal.{terminal}", use, "InTerminal.Input_1")
        flow.wire(use, "OutTerminal.Output_1", reply)
    flow.write()


def module(name, body):
    return (f"CREATE COMPUTE MODULE {name}\n\tCREATE FUNCTION Main() RETURNS BOOLEAN\n\tBEGIN\n"
            "\t\tSET OutputLocalEnvironment = InputLocalEnvironment;\n\t\tSET OutputExceptionList = InputExceptionList;\n"
            f"\t\tSET OutputRoot.Properties.CodedCharSetId = 1208;\n{body}\t\tRETURN TRUE;\n\tEND;\nEND MODULE;\n")


# REST.Input as JSON: what stands below a parameter as "name=value;".
ECHO = module("Echo", """
        DECLARE input REFERENCE TO InputLocalEnvironment.REST.Input;
        SET OutputRoot.JSON.Data.method = input.Method;
        SET OutputRoot.JSON.Data.operation = input.Operation;
        SET OutputRoot.JSON.Data.path = input.Path;
        SET OutputRoot.JSON.Data.uri = input.URI;
        CREATE FIELD OutputRoot.JSON.Data.parameters IDENTITY (JSON.Object)parameters;
        CREATE FIELD OutputRoot.JSON.Data.parts IDENTITY (JSON.Object)parts;
        FOR p AS input.Parameters.*[] DO
            DECLARE name CHARACTER FIELDNAME(p);
            SET OutputRoot.JSON.Data.parameters.{name} = FIELDVALUE(p);
            FOR part AS p.*[] DO
                SET OutputRoot.JSON.Data.parts.{name} = COALESCE(OutputRoot.JSON.Data.parts.{name}, '')
                    || FIELDNAME(part) || '=' || CAST(FIELDVALUE(part) AS CHARACTER) || ';';
            END FOR;
        END FOR;
""")


def parameter(name, place, schema, **more):
    rest = "".join(f", {k}: {v}" for k, v in more.items())
    return f"        - {{name: {name}, in: {place}, required: {'true' if place == 'path' else 'false'}, schema: {schema}{rest}}}\n"


TEXTS = "{type: array, items: {type: string}}"
POINT = "{type: object, properties: {x: {type: integer}, y: {type: integer}}}"
# operation: (path, parameters)
ECHO_OPERATIONS = {
    "plain": ("/plain/{id}", [("id", "path", "{type: integer}", {}), ("n", "query", "{type: integer, default: 7}", {}),
                              ("X-Trace", "header", "{type: string}", {}), ("sid", "cookie", "{type: string}", {})]),
    "labels": ("/labels/{a}/{b}", [("a", "path", TEXTS, {"style": "label", "explode": "true"}),
                                   ("b", "path", POINT, {"style": "label"})]),
    "matrices": ("/matrices/{a}/{b}", [("a", "path", TEXTS, {"style": "matrix", "explode": "true"}),
                                       ("b", "path", POINT, {"style": "matrix"})]),
    "simples": ("/simples/{a}/{b}", [("a", "path", TEXTS, {}), ("b", "path", POINT, {"explode": "true"})]),
    "forms": ("/forms", [("a", "query", TEXTS, {}), ("b", "query", TEXTS, {"explode": "false"}),
                         ("p", "query", POINT, {})]),
    "delimited": ("/delimited", [("s", "query", TEXTS, {"style": "spaceDelimited", "explode": "false"}),
                                 ("p", "query", TEXTS, {"style": "pipeDelimited", "explode": "false"}),
                                 ("d", "query", POINT, {"style": "deepObject", "explode": "true"})]),
    "headers": ("/headers", [("A", "header", TEXTS, {}), ("B", "header", POINT, {"explode": "true"})]),
    "cookies": ("/cookies", [("a", "cookie", TEXTS, {"explode": "false"})]),
    "mine": ("/plain/mine", []),
    "file": ("/files/{name}.{type}", []),
}


def write_echo_api(root):
    document = "openapi: 3.0.3\ninfo: {title: Echo <1>, version: '1'}\nservers: [{url: 'https://api.example/v9'}]\npaths:\n"
    for operation, (path, parameters) in ECHO_OPERATIONS.items():
        document += f"  '{path}':\n    get:\n      operationId: {operation}\n"
        if parameters:
            document += "      parameters:\n"
        for name, place, schema, more in parameters:
            document += parameter(name, place, schema, **more)
        document += "      responses: {200: {description: What came}}\n"
        if operation == "plain":
            document += ("    delete: {operationId: notDone, responses: {204: {description: Gone}}}\n"
                         "    head: {operationId: headed, responses: {200: {description: Head}}}\n")
    folder = os.path.join(root, "EchoApi")
    modules = dict.fromkeys([*ECHO_OPERATIONS, "headed"], "Echo")
    write_rest_api(folder, "echo.yaml", document, "/echo/v1*", modules, faultFormat="JSON")
    write(os.path.join(folder, "Echo.esql"), ECHO)


STRICT = """{"swagger": "2.0", "info": {"title": "Strict", "version": "2"}, "basePath": "/strict/v2",
 "consumes": ["application/json"], "produces": ["application/json"],
 "paths": {
  "/items/{id}": {"put": {"operationId": "putItem", "parameters": [
     {"name": "id", "in": "path", "required": true, "type": "integer", "format": "int32"},
     {"name": "kind", "in": "query", "required": true, "type": "string", "enum": ["a", "b"]},
     {"name": "tags", "in": "query", "type": "array", "items": {"type": "string", "maxLength": 3},
      "collectionFormat": "pipes"},
     {"name": "body", "in": "body", "required": true, "schema": {"$ref": "#/definitions/Item"}}],
    "responses": {"200": {"description": "It", "schema": {"$ref": "#/definitions/Item"}}}},
   "get": {"operationId": "getItem", "parameters": [
     {"name": "id", "in": "path", "required": true, "type": "integer"}],
    "responses": {"200": {"description": "It", "schema": {"$ref": "#/definitions/Item"}}}}},
  "/throw": {"get": {"operationId": "throwing", "responses": {"default": {"description": "x"}}}},
  "/slow": {"get": {"operationId": "slow", "responses": {"default": {"description": "x"}}}}},
 "definitions": {"Item": {"type": "object", "required": ["name"], "additionalProperties": false,
   "properties": {"name": {"type": "string", "minLength": 1}, "next": {"$ref": "#/definitions/Item"}}}}}
"""


def write_strict_api(root):
    folder = os.path.join(root, "StrictApi")
    write_rest_api(
        folder, "strict.json", STRICT, "/strict/v2*",
        {"putItem": "PutItem", "getItem": "GetItem", "throwing": "Throwing", "slow": "Slow"},
        {"catch": "Caught", "timeout": "TimedOut"},
        '<validations><validation type="INPUT"/><validation type="OUTPUT" onlyValidate2xx="true"/></validations>',
        faultFormat="JSON", timeoutForClient="1")
    write(os.path.join(folder, "Strict.esql"),
          module("PutItem", "\t\tSET OutputRoot.JSON.Data = InputRoot.JSON.Data;\n") +
          # Not what the document promises.
          module("GetItem", "\t\tSET OutputRoot.JSON.Data.title = 'x';\n"
                 "\t\tIF InputLocalEnvironment.REST.Input.Parameters.id = '404' THEN\n"
                 "\t\t\tSET OutputLocalEnvironment.Destination.HTTP.ReplyStatusCode = 404;\n\t\tEND IF;\n") +
          module("Throwing", "\t\tTHROW USER EXCEPTION MESSAGE 3001 VALUES('thrown');\n") +
          module("Slow", "\t\tCALL SLEEP(1500);\n\t\tSET OutputRoot.JSON.Data.late = TRUE;\n") +
          module("Caught", "\t\tSET OutputRoot.JSON.Data.caught = TRUE;\n"
                 "\t\tSET OutputLocalEnvironment.Destination.HTTP.ReplyStatusCode = 418;\n") +
          module("TimedOut", "\t\tSET OutputRoot.JSON.Data.waited = TRUE;\n"
                 "\t\tSET OutputLocalEnvironment.Destination.HTTP.ReplyStatusCode = 503;\n"))


# One API in several files, in folders beside each other: requests and replies in JSON, XML and forms, with security.
SPLIT_FILES = {
    "api/split.yaml": """openapi: 3.0.3
info: {title: 'Split "1"', version: '1'}
servers: [{url: /split/v1}]
security: [{user: []}, {key: []}]
paths:
  /items/{id}: {$ref: 'paths/item.yaml'}
  /forms:
    $ref: '../common.json#/paths/forms'
  /open:
    get:
      operationId: open
      security: []
      responses:
        '200': {$ref: '../common.json#/components/responses/Item'}
        default: {$ref: '#/components/responses/Problem'}
  /strange:
    get:
      operationId: strange
      security: [{}]
      parameters: [{name: how, in: query, required: true, schema: {$ref: '../models/how.yaml'}}]
      responses:
        '200':
          description: An item that is none, when asked for
          headers: {X-Count: {$ref: '../common.json#/components/headers/Count'}}
          content: {application/xml: {schema: {$ref: '../models/item.yaml#/Item'}}}
        default: {$ref: '#/components/responses/Problem'}
components:
  securitySchemes:
    user: {type: http, scheme: basic}
    token: {type: http, scheme: bearer}
    key: {$ref: '../common.json#/components/securitySchemes/Key'}
    queryKey: {type: apiKey, in: query, name: api_key}
    cookieKey: {type: apiKey, in: cookie, name: session}
  schemas:
    Name: {type: string, pattern: '^[a-z]{1,8}$'}
    Problem: {type: object, required: [error], properties: {error: {type: object}}}
  responses:
    Problem:
      description: What went wrong
      content: {application/json: {schema: {$ref: '#/components/schemas/Problem'}}}
""",
    "api/paths/item.yaml": """parameters:
  - {name: id, in: path, required: true, schema: {$ref: '../../models/item.yaml#/Item/properties/id'}}
get:
  operationId: getItem
  security: [{token: []}, {queryKey: [], cookieKey: []}]
  responses:
    '200': {$ref: '../../common.json#/components/responses/Item'}
    default: {$ref: '../split.yaml#/components/responses/Problem'}
put:
  operationId: putItem
  requestBody:
    required: true
    content:
      application/json: {schema: {$ref: '../../models/item.yaml#/Item'}}
      application/xml: {schema: {$ref: '../../models/item.yaml#/Item'}}
  responses:
    '200': {$ref: '../../common.json#/components/responses/Item'}
    default: {$ref: '../split.yaml#/components/responses/Problem'}
""",
    "common.json": """{"paths": {"forms": {"post": {"operationId": "form", "requestBody": {"required": true, "content": {
   "application/x-www-form-urlencoded": {"schema": {"$ref": "#/components/schemas/Form"}},
   "multipart/form-data": {"schema": {"$ref": "#/components/schemas/Upload"},
    "encoding": {"file": {"contentType": "image/png, application/octet-stream"}}}}},
  "responses": {"200": {"$ref": "#/components/responses/Item"},
   "default": {"$ref": "api/split.yaml#/components/responses/Problem"}}}}},
 "components": {
  "headers": {"Count": {"required": true, "schema": {"type": "integer", "maximum": 9}}},
  "securitySchemes": {"Key": {"type": "apiKey", "in": "header", "name": "X-Key"}},
  "responses": {"Item": {"description": "It", "content": {
   "application/json": {"schema": {"$ref": "./models/item.yaml#/Item"}}}}},
  "schemas": {
   "Form": {"type": "object", "required": ["name"], "additionalProperties": false, "properties": {
     "name": {"$ref": "api/split.yaml#/components/schemas/Name"},
     "limit": {"type": "integer", "minimum": 1, "maximum": 50},
     "tags": {"type": "array", "items": {"type": "string", "pattern": "^[a-z]{1,3}$"}}}},
   "Upload": {"type": "object", "required": ["name", "file"], "properties": {
     "name": {"$ref": "api/split.yaml#/components/schemas/Name"},
     "file": {"type": "string", "format": "binary"}}}}}}
""",
    "models/item.yaml": """Item:
  type: object
  required: [id, name]
  additionalProperties: false
  xml: {name: item}
  properties:
    id: {type: integer, format: int32, minimum: 0, xml: {attribute: true}}
    name: {$ref: '../api/split.yaml#/components/schemas/Name'}
    price: {type: number, minimum: 0, maximum: 1000}
    tags: {type: array, maxItems: 3, items: {type: string, pattern: '^[a-z]{1,3}$', xml: {name: tag}}, xml: {wrapped: true}}
    counts: {type: array, maxItems: 3, items: {type: integer}, xml: {wrapped: true}}
    next: {$ref: '#/Item'}
""",
    "models/how.yaml": "type: string\nenum: [good, name, root, broken, header, count]\n",
}
SPLIT_ESQL = """
        SET OutputRoot.JSON.Data.id = 1;
        SET OutputRoot.JSON.Data.name = 'one';
"""
STRANGE_ESQL = """
        DECLARE how CHARACTER InputLocalEnvironment.REST.Input.Parameters.how;
        DECLARE text CHARACTER CASE how
            WHEN 'name' THEN '<item id="1"><name>NO</name></item>' WHEN 'root' THEN '<other/>'
            WHEN 'broken' THEN '<item' ELSE '<item id="1"><name>one</name><tags><tag>a</tag></tags></item>' END;
        SET OutputRoot.HTTPReplyHeader."Content-Type" = 'application/xml';
        IF how <> 'header' THEN
            SET OutputRoot.HTTPReplyHeader."X-Count" = CASE how WHEN 'count' THEN '1e1' ELSE '3' END;
        END IF;
        SET OutputRoot.BLOB.BLOB = CAST(text AS BLOB CCSID 1208);
"""


def write_split_api(root):
    folder = os.path.join(root, "SplitApi")
    for path, text in SPLIT_FILES.items():
        write(os.path.join(folder, path), text)
    modules = dict.fromkeys(["getItem", "putItem", "form", "open"], "Item") | {"strange": "Strange"}
    write_rest_api(folder, "api/split.yaml", SPLIT_FILES["api/split.yaml"], "/split/v1*", modules, faultFormat="JSON",
                   validations='<validations><validation type="INPUT"/><validation type="OUTPUT"/></validations>')
    write(os.path.join(folder, "Split.esql"), module("Item", SPLIT_ESQL) + module("Strange", STRANGE_ESQL))


BACK_END = """openapi: 3.0.3
info: {title: Back end, version: '1'}
servers: [{url: 'http://127.0.0.1:1/api'}]
security: [{key: []}]
paths:
  /find/{id}:
    post:
      operationId: find
      parameters:
        - {name: id, in: path, required: true, schema: {type: string}}
        - {name: tags, in: query, schema: {type: array, items: {type: string}}}
        - {name: X-Kind, in: header, required: true, schema: {type: string}}
      requestBody: {content: {application/json: {schema: {type: object}}}}
      responses: {200: {description: Found}}
  /list:
    get: {operationId: list, responses: {200: {description: All}}}
  /queried:
    get: {operationId: queried, security: [{inQuery: []}], responses: {200: {description: All}}}
  /cooked:
    get:
      operationId: cooked
      security: [{inCookie: []}]
      parameters: [{name: lang, in: cookie, schema: {type: string, default: de}}]
      responses: {200: {description: All}}
  /open:
    get: {operationId: open, security: [], responses: {200: {description: All}}}
components:
  securitySchemes:
    key: {type: apiKey, in: header, name: X-Api-Key}
    inQuery: {type: apiKey, in: query, name: the key}
    inCookie: {type: apiKey, in: cookie, name: session}
"""
ROWS = ('<parameters name="id" type="path" expression="$Body/Data/id"/>'
        '<parameters name="tags" type="query" expression="$Body/Data/tags/Item"/>'
        '<parameters name="X-Kind" type="header" expression="constant-7"/>')


def write_client(root):
    folder = os.path.join(root, "Client")
    write_project(folder, ["com.ibm.etools.msgbroker.tooling.applicationNature",
                           "com.ibm.etools.msgbroker.tooling.messageBrokerProjectNature"], ["ApiLibrary"])
    write(os.path.join(folder, "application.descriptor"),
          '<ns2:appDescriptor xmlns="http://com.ibm.etools.mft.descriptor.base" '
          'xmlns:ns2="http://com.ibm.etools.mft.descriptor.app"><references><sharedLibraryReference>'
          '<libraryName>ApiLibrary</libraryName></sharedLibraryReference></references></ns2:appDescriptor>')
    library = os.path.join(root, "ApiLibrary")
    write_project(library, ["com.ibm.etools.msgbroker.tooling.sharedLibraryNature",
                            "com.ibm.etools.msgbroker.tooling.libraryNature"])
    write(os.path.join(library, "library.descriptor"),
          '<ns2:libDescriptor xmlns:ns2="http://com.ibm.etools.mft.descriptor.lib" '
          'type="com.ibm.etools.msgbroker.tooling.sharedLibraryNature"/>')
    write(os.path.join(library, "backend.yaml"), BACK_END)
    write_client_flow(folder, "Find", "/client/find", "find", ROWS)
    write_client_flow(folder, "Key", "/client/key", "list", "", securityIdentity="withKey")
    write_client_flow(folder, "Basic", "/client/basic", "list", "", securityIdentity="withUser")
    write_client_flow(folder, "Bearer", "/client/bearer", "list", "", securityIdentity="rest::withToken")
    write_client_flow(folder, "Part", "/client/part", "list", "", resultDataLocation="$ResultRoot/JSON/Data",
                      outputDataLocation="$Environment/Variables/answer", module="ShowPart")
    write_client_flow(folder, "Unwired", "/client/unwired", "list", "", wires_error=False)
    write_async_flows(folder)
    # Where the back end is, the client of the test says; so it does for the operation.
    prepare = """
        SET OutputRoot.JSON = InputRoot.JSON;
        DECLARE request REFERENCE TO OutputLocalEnvironment;
        CREATE LASTCHILD OF OutputLocalEnvironment.Destination.REST AS request NAME 'Request';
        SET request.BaseURL = InputRoot.HTTPInputHeader."X-Base";
        SET request.Timeout = 5;
        IF InputRoot.JSON.Data.operation IS NOT NULL THEN
            SET request.Operation = InputRoot.JSON.Data.operation;
        END IF;
        IF InputRoot.JSON.Data.override IS NOT NULL THEN
            SET request.Parameters.id = InputRoot.JSON.Data.override;
        END IF;
"""
    show = """
        SET OutputRoot.JSON.Data.answer = InputRoot.JSON.Data;
        DECLARE written REFERENCE TO InputLocalEnvironment.WrittenDestination.REST;
        SET OutputRoot.JSON.Data.method = written.Method;
        SET OutputRoot.JSON.Data.status = COALESCE(written.StatusCode, InputLocalEnvironment.REST.Response.StatusCode);
        SET OutputRoot.JSON.Data.bytes = COALESCE(written.ResponseBodySize, InputLocalEnvironment.REST.Response.ResponseBodySize);
        SET OutputRoot.JSON.Data.context = Environment.REST.UserContext.mine;
"""
    write(os.path.join(folder, "Client.esql"),
          module("Prepare", prepare) + module("Show", show) +
          module("PrepareAsync", prepare + "\t\tSET Environment.REST.UserContext.mine = 'kept';\n") +
          module("ShowPart", "\t\tSET OutputRoot.JSON.Data.path = Environment.Variables.answer.path;\n"
                 "\t\tSET OutputRoot.JSON.Data.own = InputRoot.JSON.Data.own;\n") +
          module("Failed", "\t\tSET OutputRoot.JSON.Data.failed = TRUE;\n"
                 "\t\tSET OutputLocalEnvironment.Destination.HTTP.ReplyStatusCode = 502;\n") +
          module("Refused", show + "\t\tSET OutputRoot.JSON.Data.refused = TRUE;\n"))


def write_client_flow(folder, name, url, operation, rows, module="Show", wires_error=True, **properties):
    flow = Flow(folder, f"{name}.msgflow")
    start = flow.add("ComIbmWSInput", "HTTP Input", URLSpecifier=url, messageDomainProperty="JSON", faultFormat="JSON")
    prepare = flow.add("ComIbmCompute", "Prepare", computeExpression="esql://routine/#Prepare.Main", computeMode="all")
    call = flow.add("ComIbmRESTRequest", "Call", rows, definitionType="openapi_3", definitionFile="backend.yaml",
                    operationName=operation, **properties)
    show = flow.add("ComIbmCompute", "Show", computeExpression=f"esql://routine/#{module}.Main", computeMode="all")
    refused = flow.add("ComIbmCompute", "Refused", computeExpression="esql://routine/#Refused.Main", computeMode="all")
    failed = flow.add("ComIbmCompute", "Failed", computeExpression="esql://routine/#Failed.Main", computeMode="all")
    reply = flow.add("ComIbmWSReply", "HTTP Reply")
    flow.wire(start, "OutTerminal.out", prepare)
    flow.wire(prepare, "OutTerminal.out", call)
    flow.wire(call, "OutTerminal.out", show)
    if wires_error:
        flow.wire(call, "OutTerminal.error", refused)
        flow.wire(call, "OutTerminal.failure", failed)
    for node in (show, refused, failed):
        flow.wire(node, "OutTerminal.out", reply)
    flow.write()


def write_async_flows(folder):
    flow = Flow(folder, "AsyncAsk.msgflow")
    start = flow.add("ComIbmWSInput", "HTTP Input", URLSpecifier="/client/async", messageDomainProperty="JSON")
    prepare = flow.add("ComIbmCompute", "Prepare", computeExpression="esql://routine/#PrepareAsync.Main",
                       computeMode="all")
    ask = flow.add("ComIbmRESTAsyncRequest", "Ask", definitionType="openapi_3", definitionFile="backend.yaml",
                   operationName="list", asyncResponseCorrelator="pair")
    flow.wire(start, "OutTerminal.out", prepare)
    flow.wire(prepare, "OutTerminal.out", ask)
    flow.write()
    flow = Flow(folder, "AsyncAnswer.msgflow")
    answer = flow.add("ComIbmRESTAsyncResponse", "Answer", asyncRequestCorrelator="pair")
    reply = flow.add("ComIbmWSReply", "HTTP Reply")
    for terminal, name in (("out", "Show"), ("error", "Refused"), ("failure", "Failed")):
        node = flow.add("ComIbmCompute", name, computeExpression=f"esql://routine/#{name}.Main", computeMode="all")
        flow.wire(answer, f"OutTerminal.{terminal}", node)
        flow.wire(node, "OutTerminal.out", reply)
    flow.write()


CONF = """serverConfVersion: 1
ResourceManagers:
  HTTPConnector:
    CORSEnabled: true
    CORSAllowOrigins: 'https://a.example, https://b.example'
    CORSAllowCredentials: true
    CORSMaxAge: 60
    CORSAllowMethods: 'GET,PUT'
    CORSAllowHeaders: 'Content-Type,X-Trace'
    CORSExposeHeaders: 'X-Seen'
Credentials:
  ServerCredentials:
    rest:
      withKey: {apiKey: k-1}
      withUser: {username: jane, password: s3cret}
      withToken: {accessToken: t-9}
"""


def write_work_folder(root):
    """A work directory with everything deployed."""
    run = os.path.join(root, "run")
    write_echo_api(run)
    write_strict_api(run)
    write_split_api(run)
    write_client(run)
    write(os.path.join(root, "server.conf.yaml"), CONF)
