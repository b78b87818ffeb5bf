package imports

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"aai"
	"aai/internal/catalog"
	"aai/internal/hygiene"
)

// A server is one of a client's, as an app to be. What is secret of it is in values and key
// alone.
type server struct {
	name   string
	doc    *catalog.Document
	values map[string]string    // of variables
	asked  map[string]reference // by variable, what stands for its value
	key    string               // by what the person is known at an address
	why    string               // why it cannot be taken; empty: it can
	notes  []string
	off    bool // the client has it switched off
}

// reading is a server that is being read.
type reading struct {
	*server
	fields map[string]any
	used   []string // names of fields that count
	common catalog.Common
	auth   *aai.AuthRecipe
}

// serverOf makes an app of a client's server.
func (r *Room) serverOf(client, name string, fields map[string]any) *server {
	s := &server{name: name, values: make(map[string]string), asked: make(map[string]reference)}
	in := &reading{server: s, fields: fields}
	platform, id := r.cfg.Platform, "mcp."+idPart(name)
	title := aai.CleanLabel(strings.ReplaceAll(name, "|", " "), 60)
	switch {
	case fields == nil:
		in.leave("its entry is no object")
	case title == "":
		in.leave("it has no name that can be shown; give it one in the client's configuration, and import again")
	}
	in.kind()
	in.variables()
	in.command()
	in.address()
	switch {
	case s.why != "":
		return s
	case in.common.URL == "" && in.common.Command == "":
		s.why = "it has neither a command nor an address"
		return s
	case in.common.URL != "":
		platform = "web"
		in.headers(id)
	}
	in.common.Env = slices.Sorted(maps.Keys(s.values))
	in.unfilled(id)
	if len(in.common.Env) == 0 {
		in.common.Env = nil
	}
	in.rest()
	s.doc = &catalog.Document{
		ID: id, Name: title, Description: "What the MCP server " + title + " can do, taken over from " + client + ".",
		Sections: []catalog.Section{{Platform: platform, Way: "mcp", Common: in.common, Auth: in.auth}},
	}
	s.doc.Generated = &catalog.Generated{From: fromClient + client + "/" + title, Digest: digestOf(s.doc)}
	return s
}

// digestOf names what a server is, without what it was given.
func digestOf(doc *catalog.Document) string {
	text, err := json.Marshal(doc.Sections)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// idPart is a name as a part of an id.
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

func (in *reading) leave(format string, args ...any) {
	if in.why == "" {
		in.why = fmt.Sprintf(format, args...)
	}
}

// field is the value of the first of the names that is there.
func (in *reading) field(names ...string) any {
	var found any
	for _, name := range names {
		in.used = append(in.used, name)
		if v, there := in.fields[name]; there && found == nil {
			found = v
		}
	}
	return found
}

func (in *reading) text(names ...string) string {
	value := in.field(names...)
	s, ok := value.(string)
	in.expect(ok, value, "a text", names)
	return s
}

// list is a field that is a list.
func (in *reading) list(names ...string) []any {
	value := in.field(names...)
	list, ok := value.([]any)
	in.expect(ok, value, "a list", names)
	return list
}

// is is a field that is true or false, and whether it is.
func (in *reading) is(names ...string) (yes, given bool) {
	value := in.field(names...)
	yes, given = value.(bool)
	in.expect(given, value, "true or false", names)
	return yes, given
}

// expect notes a field that is there and of another type: what it says is not taken. Its value is
// not shown, as it may be secret.
func (in *reading) expect(right bool, value any, wanted string, names []string) {
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

// table is a field that is an object, of scalars as texts.
func (in *reading) table(names ...string) map[string]string {
	value := in.field(names...)
	object, ok := value.(map[string]any)
	in.expect(ok, value, "an object", names)
	table := make(map[string]string, len(object))
	for name, value := range object {
		switch value.(type) {
		case nil, map[string]any, []any:
			in.leave("its %s has a value that is no text", aai.CleanLabel(name, 60))
		default:
			table[name] = fmt.Sprint(value)
		}
	}
	return table
}

// kind looks at what sort of server it is.
func (in *reading) kind() {
	switch strings.ToLower(strings.ReplaceAll(in.text("type", "transport"), "_", "-")) {
	case "", "stdio", "local", "http", "streamable-http", "streamablehttp", "remote":
	case "sse":
		in.leave("it speaks SSE, which was replaced by Streamable HTTP in 2025; give its newer address by hand")
	default:
		in.leave("it is of the type %s, which is a part of the client", quoted(in.text("type", "transport")))
	}
	if disabled, _ := in.is("disabled"); disabled {
		in.off = true
	}
	if enabled, given := in.is("enabled"); given && !enabled {
		in.off = true
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

// command takes how the server is started.
func (in *reading) command() {
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
	case map[string]any: // as older editors have it
		in.common.Command, _ = v["path"].(string)
		args, _ = v["args"].([]any)
		inner := &reading{server: in.server, fields: v}
		inner.variables()
	}
	in.common.Dir = in.text("cwd", "working_directory")
	args = in.unwrapped(args)
	if secretAmong(in.common.Command) {
		in.leave(keyAmong, "its command")
	}
	if strings.Contains(in.common.Command, "${") || strings.Contains(in.common.Dir, "${") {
		in.leave("its command has %s, which the client fills in", quoted("${…}"))
	}
	before := ""
	for _, arg := range args {
		word, ok := arg.(string)
		if !ok {
			if _, nested := arg.(map[string]any); nested || arg == nil {
				in.leave("an argument of its command is no text")
				return
			}
			word = fmt.Sprint(arg)
		}
		in.common.Args = append(in.common.Args, in.argument(before, word))
		before = word
	}
}

// argument is one of the command's, with a name in the place of what looks like a secret.
func (in *reading) argument(before, word string) string {
	for rest := word; ; {
		_, after, found := strings.Cut(rest, "${")
		name, tail, closed := strings.Cut(after, "}")
		if !found {
			break
		}
		if _, known := in.values[name]; !closed || !known {
			in.leave("an argument of its command has %s, which the client fills in", quoted("${"+name+"}"))
			return ""
		}
		rest = tail
	}
	if strings.Contains(word, "${") {
		return word
	}
	flag, value, joined := strings.Cut(word, "=")
	header, rest, isHeader := strings.Cut(word, ":")
	switch {
	case strings.HasPrefix(word, "-") && joined && value != "" && hygiene.SecretName(flag):
		return flag + "=" + in.kept(flag, value)
	case strings.HasPrefix(word, "-") && isHeader && rest != "" && hygiene.SecretName(header):
		return header + ":" + in.kept(header, rest)
	case strings.HasPrefix(word, "-") && joined:
		return flag + "=" + in.argument("", value)
	case strings.HasPrefix(word, "-"):
		return word
	case strings.HasPrefix(before, "-") && !strings.ContainsAny(before, "=:") && hygiene.SecretName(before):
		return in.kept(before, word)
	case before == "-p" && !isPort(word) && !strings.ContainsAny(word, "/\\.:"):
		return in.kept("PASSWORD", word)
	case secretAmong(word) && strings.ContainsAny(strings.TrimSpace(word), " \t\n"):
		in.leave(keyAmong, "an argument of its command")
		return ""
	case isHeader && strings.TrimSpace(rest) != "" && !strings.HasPrefix(rest, "//") && (hygiene.SecretName(header) || authorizes(header)):
		return header + ":" + in.kept(header, rest)
	case joined && value != "" && hygiene.SecretName(flag):
		return flag + "=" + in.kept(flag, value)
	}
	if u, err := url.Parse(word); err == nil && u.Host != "" {
		if _, has := u.User.Password(); has || secretQuery(u) != "" {
			return in.kept("CONNECTION", word)
		}
	}
	switch {
	case secretAmong(word):
		return in.kept("CONNECTION", word)
	case looksRandom(word):
		return in.kept("SECRET", word)
	}
	return word
}

// keyAmong says why a line for a shell is left out, and what to do by hand.
const keyAmong = "%s has a key among other words, such as \"export TOKEN=…; server\". Take the key out of the line, " +
	"give it as a variable in the client's \"env\", where the server finds it by the same name, and import again"

// kept puts a value among the variables, and returns what stands for it in an argument.
func (in *reading) kept(name, value string) string {
	name = strings.Trim(strings.ToUpper(strings.ReplaceAll(idPart(name), "-", "_")), "_")
	if !isVariable(name) || strings.HasPrefix(name, "AAI_") || strings.HasPrefix(name, "AXTERMINATOR_") {
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

// looksRandom reports whether a word looks like a key: long, of letters and digits, and
// nothing that a path, a name of a package or an address has.
func looksRandom(word string) bool {
	letters, digits := 0, 0
	for i := range len(word) {
		switch c := word[i]; {
		case c >= '0' && c <= '9':
			digits++
		case c|0x20 >= 'a' && c|0x20 <= 'z':
			letters++
		case c == '_' || c == '-' || c == '+' || c == '=':
		default:
			return false
		}
	}
	return len(word) >= 20 && letters >= 4 && digits >= 4
}

func secretQuery(u *url.URL) string {
	for name := range u.Query() {
		if hygiene.SecretName(name) {
			return name
		}
	}
	return ""
}

func quoted(s string) string { return "\"" + aai.CleanLabel(s, 100) + "\"" }
