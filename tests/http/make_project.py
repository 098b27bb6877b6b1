"""Writes message flow projects for the end-to-end tests, in the form the Toolkit saves them.

A flow is given as nodes and connections, so that a test reads as a drawing:

    flow("Echo", [("in", "ComIbmWSInput", "HTTP Input", {"URLSpecifier": "/echo"}), ...],
         ["in.out -> reply.in"])
"""
from pathlib import Path
from xml.sax.saxutils import quoteattr

HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n'


def descriptor(folder, name, libraries=()):
    refs = "".join(f"<sharedLibraryReference><libraryName>{library}</libraryName></sharedLibraryReference>"
                   for library in libraries)
    (folder / "application.descriptor").write_text(
        HEAD + '<ns2:appDescriptor xmlns="http://com.ibm.etools.mft.descriptor.base" '
        'xmlns:ns2="http://com.ibm.etools.mft.descriptor.app"><references>' + refs +
        "</references></ns2:appDescriptor>\n")
    (folder / ".project").write_text(
        HEAD + f"<projectDescription><name>{name}</name><projects></projects><natures>"
        "<nature>com.ibm.etools.msgbroker.tooling.applicationNature</nature>"
        "<nature>com.ibm.etools.msgbroker.tooling.messageBrokerProjectNature</nature>"
        "</natures></projectDescription>\n")


def flow_xml(name, nodes, connections, extension="msgflow", features="", links=""):
    """nodes: (id, type, label, properties[, inner xml]); connections: "a.out -> b.in"."""
    types, body, numbers = set(), [], {}
    for n, node in enumerate(nodes, 1):
        key, kind, label, properties = node[:4]
        inner = node[4] if len(node) > 4 else ""
        if kind.startswith("eflow:"):
            xmi_id, xmi_type = key, kind
        else:
            xmi_id = f"FCMComposite_1_{n}"
            if kind.endswith((".subflow", ".msgflow")):
                prefix = kind.replace("/", "_")
                types.add((prefix, kind))
            else:
                prefix = kind + ".msgnode"
                types.add((prefix, prefix))
            xmi_type = f"{prefix}:FCMComposite_1"
        numbers[key] = xmi_id
        attributes = "".join(f" {k}={quoteattr(v)}" for k, v in properties.items())
        body.append(f'<nodes xmi:type="{xmi_type}" xmi:id={quoteattr(xmi_id)} location="{n * 90},100"{attributes}>'
                    f'<translation xmi:type="utility:ConstantString" string={quoteattr(label)}/>{inner}</nodes>')
    for n, text in enumerate(connections, 1):
        source, target = (part.strip() for part in text.split("->"))
        (a, out), (b, into) = (part.split(".", 1) for part in (source, target))
        out = out[1:] if out.startswith("!") else out if out.startswith("OutTerminal.") else "OutTerminal." + out
        into = into[1:] if into.startswith("!") else into if into.startswith("InTerminal.") else "InTerminal." + into
        body.append(f'<connections xmi:type="eflow:FCMConnection" xmi:id="FCMConnection_{n}" '
                    f'targetNode="{numbers[b]}" sourceNode="{numbers[a]}" sourceTerminalName={quoteattr(out)} '
                    f'targetTerminalName={quoteattr(into)}/>')
    spaces = "".join(f' xmlns:{p}="{u}"' for p, u in sorted(types))
    return (HEAD + '<ecore:EPackage xmi:version="2.0" xmlns:xmi="http://www.omg.org/XMI" '
            'xmlns:ecore="http://www.eclipse.org/emf/2002/Ecore" xmlns:eflow="http://www.ibm.com/wbi/2005/eflow" '
            'xmlns:utility="http://www.ibm.com/wbi/2005/eflow_utility"' + spaces +
            f' nsURI="{name}.{extension}" nsPrefix="{name}.{extension}">'
            '<eClassifiers xmi:type="eflow:FCMComposite" name="FCMComposite_1">' + features +
            '<composition>' + "".join(body) + "</composition>" + links + "</eClassifiers></ecore:EPackage>\n")


class Project:
    def __init__(self, folder, name, libraries=()):
        self.folder = Path(folder) / name
        self.folder.mkdir(parents=True, exist_ok=True)
        self.name = name
        descriptor(self.folder, name, libraries)

    def flow(self, name, nodes, connections, **kwargs):
        (self.folder / f"{name}.msgflow").write_text(flow_xml(name, nodes, connections, **kwargs))

    def subflow(self, name, nodes, connections, **kwargs):
        (self.folder / f"{name}.subflow").write_text(flow_xml(name, nodes, connections, "subflow", **kwargs))

    def esql(self, name, text):
        (self.folder / f"{name}.esql").write_text(text)


def module(name, body, kind="COMPUTE"):
    return (f"CREATE {kind} MODULE {name}\n  CREATE FUNCTION Main() RETURNS BOOLEAN\n  BEGIN\n{body}\n  END;\n"
            "END MODULE;\n")


COPY_HEADERS = "    SET OutputRoot.Properties = InputRoot.Properties;\n"
