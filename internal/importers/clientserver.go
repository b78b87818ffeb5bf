package importers

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/catalog"
)

// A server is an MCP server of a client, converted to an app. Only the fields values and key hold
// secrets.
type server struct {
	name       string
	place      string // of its entry, if that is a project's
	doc        *catalog.Document
	text       []byte               // doc in the form of an aai.json
	values     map[string]string    // of variables
	references map[string]reference // by variable: the reference in place of its value
	key        string               // the key for a remote server
	skipReason string               // why it cannot be imported; empty: it can
	notes      []string
	disabled   bool // switched off in the client

	shownVariables []string // NAME=value, of those that choose the code that runs
}

// serverReader reads the configuration of one server.
type serverReader struct {
	*server
	fields     map[string]any
	usedFields []string // names of fields already read
	common     catalog.AppAddress
	auth       *aai.AuthRecipe
	serverOrigin
	usesProject bool   // the entry names a place in the project's folder
	runner      string // the interpreter or runner whose code the next argument chooses, or ""
}

// A serverOrigin says whose server it is.
type serverOrigin struct {
	client   string
	project  string // the project's folder; empty: not known
	isScoped bool   // the client starts it in the project's folder
	inID     bool   // the id has the folder's name, since another server has the plain id
}

// serverOf converts a client's server to an app.
func (r *Importer) serverOf(origin serverOrigin, name string, fields map[string]any) *server {
	s := &server{name: name, values: make(map[string]string), references: make(map[string]reference)}
	in := &serverReader{server: s, fields: fields, serverOrigin: origin}
	client, platform, id := origin.client, r.cfg.Platform, "mcp."+idPart(name)
	title := aai.CleanLabel(strings.ReplaceAll(name, "|", " "), 60)
	if origin.inID {
		id = "mcp." + idPart(name+"-"+filepath.Base(origin.project))
		title = aai.CleanLabel(title+" ("+filepath.Base(origin.project)+")", 60)
	}
	in.fillProject()
	switch {
	case fields == nil:
		in.skip("its entry is no object")
	case title == "":
		in.skip("it has no name that can be shown; give it one in the client's configuration, and import again")
	}
	in.kind()
	in.variables()
	in.command()
	in.placeCommand()
	in.showVariables()
	in.address()
	switch {
	case s.skipReason != "":
		return s
	case in.common.URL == "" && in.common.Command == "":
		s.skipReason = "it has neither a command nor an address"
		return s
	case in.common.URL != "":
		platform = "web"
		in.headers(id)
	}
	in.common.Env = slices.Sorted(maps.Keys(s.values))
	in.dropUnresolved(id)
	if len(in.common.Env) == 0 {
		in.common.Env = nil
	}
	in.noteUnused()
	s.doc = &catalog.Document{
		ID: id, Version: "1.0.0", Name: title, Description: "The tools of the MCP server " + title + ", taken over from " + client + ".",
		Sections: []catalog.Section{{Platform: platform, Automation: "mcp", AppAddress: in.common, Auth: in.auth}},
	}
	from := fromClient + client + "/" + aai.CleanLabel(strings.ReplaceAll(name, "|", " "), 60)
	if origin.isScoped || in.usesProject {
		from += "|" + origin.project
	}
	s.doc.Generated = &catalog.Generated{From: from, Digest: digestOf(s.doc)}
	return s
}

// digestOf returns a digest of a server's definition, without its secrets.
func digestOf(doc *catalog.Document) string {
	text, err := json.Marshal(doc.Sections)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// idPart converts a name to a part of an id.
func idPart(name string) string {
	var b strings.Builder
	for _, c := range strings.ToLower(name) {
		switch {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '_':
			b.WriteRune(c)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	part := strings.Trim(b.String(), "-")
	if part == "" {
		sum := sha256.Sum256([]byte(name))
		part = "server-" + hex.EncodeToString(sum[:3])
	}
	return part[:min(len(part), 40)]
}

func (in *serverReader) skip(format string, args ...any) {
	if in.skipReason == "" {
		in.skipReason = fmt.Sprintf(format, args...)
	}
}

// field returns the value of the first name that exists.
func (in *serverReader) field(names ...string) any {
	var found any
	for _, name := range names {
		in.usedFields = append(in.usedFields, name)
		if v, there := in.fields[name]; there && found == nil {
			found = v
		}
	}
	return found
}

func (in *serverReader) text(names ...string) string {
	value := in.field(names...)
	s, ok := value.(string)
	in.checkType(ok, value, "a text", names)
	return s
}

// list returns a field that is a list.
func (in *serverReader) list(names ...string) []any {
	value := in.field(names...)
	list, ok := value.([]any)
	in.checkType(ok, value, "a list", names)
	return list
}

// boolField returns a boolean field. given reports whether the field exists and is a boolean.
func (in *serverReader) boolField(names ...string) (yes, given bool) {
	value := in.field(names...)
	yes, given = value.(bool)
	in.checkType(given, value, "true or false", names)
	return yes, given
}

// checkType notes a field of the wrong type, which is ignored. The note omits the value, because
// it may be secret.
func (in *serverReader) checkType(right bool, value any, wanted string, names []string) {
	if right || value == nil {
		return
	}
	for _, name := range names {
		if in.fields[name] != nil {
			in.notes = append(in.notes, fmt.Sprintf("%s is %s, and was not taken; expected %s", name, typeOf(value), wanted))
			return
		}
	}
}

func typeOf(value any) string {
	switch value.(type) {
	case string:
		return "a text"
	case bool:
		return "true or false"
	case []any:
		return "a list"
	case map[string]any:
		return "an object"
	}
	return "a number"
}

// stringMap returns a field that is an object, with scalars as text.
func (in *serverReader) stringMap(names ...string) map[string]string {
	value := in.field(names...)
	object, ok := value.(map[string]any)
	in.checkType(ok, value, "an object", names)
	table := make(map[string]string, len(object))
	for name, value := range object {
		switch value.(type) {
		case nil, map[string]any, []any:
			in.skip("its %s has a value that is no text", aai.CleanLabel(name, 60))
		default:
			table[name] = fmt.Sprint(value)
		}
	}
	return table
}

// kind skips a server of an unsupported type, and records if it is switched off.
func (in *serverReader) kind() {
	switch strings.ToLower(strings.ReplaceAll(in.text("type", "transport"), "_", "-")) {
	case "", "stdio", "local", "http", "streamable-http", "streamablehttp", "remote":
	case "sse":
		in.skip("it speaks SSE, which was replaced by Streamable HTTP in 2025; give its newer address by hand")
	default:
		in.skip("it is of the type %s, which is a part of the client", quotedSetting(in.text("type", "transport")))
	}
	if disabled, _ := in.boolField("disabled"); disabled {
		in.disabled = true
	}
	if enabled, given := in.boolField("enabled"); given && !enabled {
		in.disabled = true
	}
}

func isVariable(name string) bool {
	for i := range len(name) {
		c := name[i]
		if c != '_' && (c|0x20 < 'a' || c|0x20 > 'z') && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return name != "" && len(name) <= 100
}

// command reads the command that starts the server.
func (in *serverReader) command() {
	words := in.field("command", "cmd")
	args := in.list("args")
	switch v := words.(type) {
	case string:
		in.common.Command = v
	case []any: // a command with its arguments
		if len(v) > 0 {
			in.common.Command, _ = v[0].(string)
			args = append(slices.Clone(v[1:]), args...)
		}
	case map[string]any: // the form of older editors
		in.common.Command, _ = v["path"].(string)
		args, _ = v["args"].([]any)
		inner := &serverReader{server: in.server, fields: v}
		inner.variables()
	}
	in.common.Dir = in.text("cwd", "working_directory")
	args = in.unwrapped(args)
	if containsKey(in.common.Command) {
		in.skip(keyInLineReason, "its command")
	}
	if strings.Contains(in.common.Command, "${") || strings.Contains(in.common.Dir, "${") {
		in.skip("its command has %s, which the client fills in", quotedSetting("${…}"))
	}
	in.follow("", in.common.Command)
	before := ""
	for _, arg := range args {
		word, ok := arg.(string)
		if !ok {
			if _, nested := arg.(map[string]any); nested || arg == nil {
				in.skip("an argument of its command is no text")
				return
			}
			word = fmt.Sprint(arg)
		}
		taken := in.argument(before, word) // without its key, since a variable gets its name
		in.follow(before, word)
		before = taken
		in.common.Args = append(in.common.Args, taken)
	}
}

// keyInLineReason explains why a shell line is skipped, and how to fix it by hand.
const keyInLineReason = "%s has a key among other words, such as \"export TOKEN=…; server\". Take the key out of " +
	"the line, " +
	"give it as a variable in the client's \"env\", where the server finds it by the same name, and import again"

// storeVariable adds a value to the variables, and returns the reference for the argument.
func (in *serverReader) storeVariable(name, value string) string {
	name = strings.Trim(strings.ToUpper(strings.ReplaceAll(idPart(name), "-", "_")), "_")
	if !isVariable(name) || choosesCode(name) || strings.HasPrefix(name, "AAI_") || strings.HasPrefix(name, "AXTERMINATOR_") {
		name = "SECRET"
	}
	free := name
	for n := 2; ; n++ {
		known, taken := in.values[free]
		if !taken || known == value {
			break
		}
		free = fmt.Sprintf("%s_%d", name, n)
	}
	in.values[free] = value
	return "${" + free + "}"
}

func quotedSetting(s string) string { return "\"" + aai.CleanLabel(s, 100) + "\"" }
