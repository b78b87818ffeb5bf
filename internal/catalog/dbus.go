package catalog

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/sanitize"
)

// dbusAddress is the address of a D-Bus object. A section gives one for all its tools, and a tool
// may override parts.
type dbusAddress struct{ bus, service, object, iface string }

// readAddress reads "bus" and the protocol's "service", "object" and "interface". It checks their
// syntax by the D-Bus specification, "Valid Names".
func (p *parser) readAddress(m *members) dbusAddress {
	a := dbusAddress{bus: m.word("bus", "session", "system")}
	a.service = p.dbusName(m, validBusName, `expected a bus name such as "org.example.Mail"`, "service")
	a.object = p.dbusName(m, validObjectPath, `expected an object path such as "/org/example/Mail"`,
		"object", "object_path")
	a.iface = p.dbusName(m, validInterface, `expected an interface name such as "org.example.Mail"`, "interface")
	return a
}

// desktopFile reads the desktop entry that starts the app; the default is the one that names the
// descriptor. It returns the entry's id.
func (p *parser) desktopFile(m *members) string {
	name := p.o.DesktopFile
	if n := m.take("desktop_file"); n != nil {
		if name = n.Text; n.Kind != text || !validEntry(name) {
			p.fault(n.Path(), "is %s; expected the name of a desktop entry such as \"org.example.Mail.desktop\"", quoteScalar(n))
			return ""
		}
	}
	return strings.TrimSuffix(name, ".desktop")
}

// sharedAddress reads the section's address of the app and its desktop entry.
func (p *parser) sharedAddress(s *section, m *members) (a dbusAddress, start string) {
	a, start = p.readAddress(m), p.desktopFile(m)
	s.Bus, s.Service, s.Object, s.Interface = a.bus, a.service, a.object, a.iface
	if start != "" && m.has("desktop_file") {
		s.DesktopFile = start + ".desktop"
	}
	return a, start
}

// validEntry checks the name of a desktop entry, by the Desktop Entry Specification, "File
// naming".
func validEntry(name string) bool {
	for i := range len(name) {
		if c := name[i]; c != '.' && c != '_' && c != '-' && !letter(c) && !digit(c) {
			return false
		}
	}
	return name != "" && len(name) <= 255 && name[0] != '.' && name != ".desktop"
}

// dbusName reads a name with a syntax check, or returns "" if it is absent.
func (p *parser) dbusName(m *members, valid func(string) bool, expected string, names ...string) string {
	n := m.take(names...)
	if n == nil {
		return ""
	}
	if n.Kind != text || !valid(n.Text) {
		p.fault(n.Path(), "is %s; %s", quoteScalar(n), expected)
		return ""
	}
	return n.Text
}

// dbusToolReader reads tools that call methods or access properties.
func (p *parser) dbusToolReader(s *section, m *members) toolReader {
	common, start := p.sharedAddress(s, m)
	return func(tool *members, r *aai.Recipe) {
		r.Start = start
		p.dbusTool(m, common, tool, r)
	}
}

func (p *parser) dbusTool(m *members, common dbusAddress, tool *members, r *aai.Recipe) {
	if r.Event != "" {
		r.DBus = p.dbusSignal(m, common, tool)
		return
	}
	own := p.readAddress(tool)
	d := &aai.DBusRecipe{
		Bus:       cmp.Or(own.bus, common.bus, "session"),
		Service:   cmp.Or(own.service, common.service),
		Object:    cmp.Or(own.object, common.object),
		Interface: cmp.Or(own.iface, common.iface),
	}
	p.needAddress(m, tool, d.Service, `a D-Bus app needs a bus name such as "org.example.Mail"`, "service")
	p.needAddress(m, tool, d.Object, `a D-Bus app needs an object path such as "/org/example/Mail"`,
		"object", "object_path")
	p.needAddress(m, tool, d.Interface, `a D-Bus app needs an interface name such as "org.example.Mail"`, "interface")
	d.Method = p.dbusName(tool, validMember, `expected a method name such as "SendEmail"`, "method")
	d.Property = p.dbusName(tool, validMember, `expected a property name such as "Volume"`, "property")
	d.Signature = p.dbusName(tool, validSignature, `expected the types of the method's arguments such as "sas"`, "signature")
	d.Access = tool.word("access", "get", "set")
	hasMethod, hasProperty := tool.has("method"), tool.has("property")
	switch {
	case hasMethod && hasProperty:
		p.fault(tool.pathOf("property"), `is given beside "method"; a D-Bus tool has one of them`)
	case !hasMethod && !hasProperty:
		p.fault(tool.pathOf("method"), `missing; a D-Bus tool needs "method" or "property"`)
	case hasProperty && d.Access == "":
		d.Access = "get"
	case hasMethod && d.Access != "":
		p.fault(tool.pathOf("access"), `goes with "property", not with "method"`)
	case !hasMethod && d.Signature != "":
		p.fault(tool.pathOf("signature"), `goes with "method", not with "property"`)
	}
	if hasMethod || d.Access == "set" {
		d.Args = p.fixedArgs(tool, r)
	}
	r.DBus = d
}

// dbusSignal reads the signal of an event. Without an object of its own the event is of any object.
func (p *parser) dbusSignal(m *members, common dbusAddress, event *members) *aai.DBusRecipe {
	own := p.readAddress(event)
	d := &aai.DBusRecipe{
		Bus: cmp.Or(own.bus, common.bus, "session"), Service: cmp.Or(own.service, common.service), Object: own.object,
		Interface: cmp.Or(own.iface, common.iface),
	}
	p.needAddress(m, event, d.Service, `a D-Bus app needs a bus name such as "org.example.Mail"`, "service")
	p.needAddress(m, event, d.Interface, `a D-Bus app needs an interface name such as "org.example.Mail"`, "interface")
	if d.Signal = p.dbusName(event, validMember, `expected a signal name such as "MailArrived"`, "signal"); !event.has("signal") {
		p.fault(event.pathOf("signal"), `missing; an event over D-Bus needs a "signal"`)
	}
	d.Fields = p.fieldNames(event)
	return d
}

// fixedArgs reads the fixed arguments of a tool: a list of constants and "${param}", by position.
// It returns nil if there are none.
func (p *parser) fixedArgs(tool *members, r *aai.Recipe) []json.RawMessage {
	if !tool.has("args") {
		return nil
	}
	return append([]json.RawMessage{}, p.comArgs(tool, r, nil)...)
}

// usesParams reports whether the recipe sets a D-Bus property that has no secret's name. The driver can then read the
// old value for an undo.
func usesParams(r *aai.Recipe) bool {
	return r.DBus != nil && r.DBus.Access == "set" && !sanitize.IsSecretName(r.DBus.Property)
}

func dbusEffect(r *aai.Recipe) aai.Effect {
	if r.DBus.Property != "" && r.DBus.Access == "get" {
		return aai.Reads
	}
	return aai.Destroys
}

func describeDBus(r *aai.Recipe) string {
	d := r.DBus
	if d.Signal != "" {
		return strings.TrimSpace("D-Bus signal " + d.Interface + "." + d.Signal + " of " + d.Service + " " + d.Object)
	}
	if d.Property != "" {
		return "D-Bus " + d.Access + " " + d.Service + " " + d.Object + " property " + d.Interface + "." + d.Property +
			describeFixedArgs(d)
	}
	words := "D-Bus " + d.Service + " " + d.Object + " " + d.Interface + "." + d.Method
	if d.Signature != "" {
		words += " of the signature " + d.Signature
	}
	return words + describeFixedArgs(d)
}

// describeFixedArgs describes the fixed arguments of a recipe.
func describeFixedArgs(d *aai.DBusRecipe) string {
	if d.Args == nil {
		return ""
	}
	words := make([]string, len(d.Args))
	for i, arg := range d.Args {
		words[i] = string(arg)
	}
	return "(" + strings.Join(words, ", ") + ")"
}

// needAddress reports a part of the address that is missing in the section and the tool. An
// invalid part was reported before.
func (p *parser) needAddress(m, tool *members, value, expected string, names ...string) {
	if value == "" && !m.has(names...) && !tool.has(names...) {
		p.fault(m.pathOf(names...), "missing; %s", expected)
	}
}

// dbusOrEnvelope reads tools of execution type "dbus", and on Linux "ipc". A tool with a method
// or property is a D-Bus call; other tools use the protocol's envelope.
func (p *parser) dbusOrEnvelope(s *section, m *members) toolReader {
	common, start := p.sharedAddress(s, m)
	return func(tool *members, r *aai.Recipe) {
		r.Start = start
		if r.Event != "" || tool.has("method") || tool.has("property") {
			p.dbusTool(m, common, tool, r)
			return
		}
		r.IPC = &aai.IPCRecipe{
			Bus: common.bus, Service: common.service, Object: common.object, Interface: common.iface,
		}
	}
}

// envelopeToolReader reads tools of execution type "ipc", and of its newer name on macOS, "apple-events". The
// settings usually give only the app's address.
func (p *parser) envelopeToolReader(s *section, m *members) toolReader {
	var at aai.IPCRecipe
	supported := true
	switch s.Platform {
	case "linux":
		return p.dbusOrEnvelope(s, m)
	case "macos":
		s.BundleID, s.EventClass, s.EventID = m.text("bundle_id"), m.text("event_class"), m.text("event_id")
		at.BundleID = cmp.Or(s.BundleID, p.doc.ID)
		class, id := cmp.Or(s.EventClass, "AAI "), cmp.Or(s.EventID, "call")
		if supported = class == "AAI " && id == "call"; !supported {
			p.warn(m.pathOf("event_class"), "only the event \"AAI \" \"call\" is supported; the tools cannot be run")
		}
	case "windows":
		s.ProgID = m.text("progid", "prog_id")
		at.ProgID = s.ProgID
	}
	return func(_ *members, r *aai.Recipe) {
		if supported {
			recipe := at
			r.IPC = &recipe
		}
	}
}

// has reports whether the member is present, here or in the tool's "execution".
func (m *members) has(names ...string) bool {
	return m.take(names...) != nil
}

// validBusName checks a well-known bus name.
func validBusName(s string) bool { return dotted(s, true) }

// validInterface checks an interface name.
func validInterface(s string) bool { return dotted(s, false) }

func dotted(s string, hyphens bool) bool {
	parts := 0
	for part := range strings.SplitSeq(s, ".") {
		parts++
		if hyphens {
			part = strings.ReplaceAll(part, "-", "_")
		}
		if !validMember(part) {
			return false
		}
	}
	return parts >= 2 && len(s) <= 255
}

// validMember checks the name of a method or property.
func validMember(s string) bool {
	if s == "" || len(s) > 255 || digit(s[0]) {
		return false
	}
	return wordy(s)
}

// validSignature checks the characters of a signature. The driver checks its grammar.
func validSignature(s string) bool {
	return s != "" && len(s) <= 255 && strings.Trim(s, "ybnqiuxtdsogvah(){}") == ""
}

func wordy(s string) bool {
	for i := range len(s) {
		if c := s[i]; c != '_' && !letter(c) && !digit(c) {
			return false
		}
	}
	return true
}

func validObjectPath(s string) bool {
	if s == "/" {
		return true
	}
	rest, ok := strings.CutPrefix(s, "/")
	if !ok || len(s) > 1024 {
		return false
	}
	for part := range strings.SplitSeq(rest, "/") {
		if part == "" || !wordy(part) {
			return false
		}
	}
	return true
}
