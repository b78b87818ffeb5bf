package importers

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/catalog"
	"github.com/gybob/aai-gateway/internal/netguard"
)

// An operation is one HTTP method of one path of the API.
type operation struct {
	*openapi3.Operation
	item         *openapi3.PathItem
	path, method string
	group        string
	route        string            // path as requests have it
	fixed        map[string]string // fixed part of the query
	inQuery      map[string]string // names of the query for parameters in the braces of its path
}

// setRoute reads a path that has a query, or a fragment, by which authors tell apart operations of
// one path.
func (op *operation) setRoute() {
	path, _, _ := strings.Cut(op.path, "#")
	route, query, _ := strings.Cut(path, "?")
	op.route, op.inQuery = route, make(map[string]string)
	for pair := range strings.SplitSeq(query, "&") {
		name, value, _ := strings.Cut(pair, "=")
		param, begins := strings.CutPrefix(value, "{")
		param, ends := strings.CutSuffix(param, "}")
		switch {
		case begins && ends:
			op.inQuery[param] = name
		case pair != "":
			if op.fixed == nil {
				op.fixed = make(map[string]string)
			}
			op.fixed[unescaped(name)] = unescaped(value)
		}
	}
}

func unescaped(s string) string {
	if plain, err := url.QueryUnescape(s); err == nil {
		return plain
	}
	return s
}

func (op *operation) words() string { return op.method + " " + aai.CleanLabel(op.path, 100) }

// methods maps method names in documents to HTTP methods.
func methods() map[string]string {
	return map[string]string{
		"get": http.MethodGet, "head": http.MethodHead, "post": http.MethodPost, "put": http.MethodPut,
		"patch": http.MethodPatch, "delete": http.MethodDelete, "options": http.MethodOptions, "trace": http.MethodTrace,
		"query": "QUERY",
	}
}

// operations returns the operations of the requested groups, by group, path and method.
func (m *apiConverter) operations() ([]*operation, error) {
	var all []*operation
	known := make(map[string]bool)
	for _, path := range slices.Sorted(maps.Keys(m.api.Paths.Map())) {
		item := m.api.Paths.Value(path)
		if item == nil {
			continue
		}
		found := item.Operations()
		for _, method := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "QUERY"} {
			if found[method] == nil {
				continue
			}
			op := &operation{Operation: found[method], item: item, path: path, method: method}
			op.group = groupOf(op)
			op.setRoute()
			for _, tag := range op.Tags {
				known[tag] = true
			}
			if len(m.options.Groups) == 0 || slices.Contains(m.options.Groups, op.group) ||
				slices.ContainsFunc(op.Tags, func(tag string) bool { return slices.Contains(m.options.Groups, tag) }) {
				all = append(all, op)
			}
			known[op.group] = true
		}
	}
	for _, group := range m.options.Groups {
		if !known[group] {
			e := documentError("paths", "has no operation of the group "+quotedField(group), "one of its tags")
			names := slices.Sorted(maps.Keys(known))
			e.Candidates, e.Hint = aai.Nearest(group, names, 5), "Its groups are: "+firstNames(names)
			return nil, e
		}
	}
	if len(all) > maxTools {
		e := documentError("paths", fmt.Sprintf("has %d operations", len(all)), fmt.Sprintf("at most %d in an app", maxTools))
		e.Hint = "Import the groups that you want: --group NAME"
		return nil, e
	}
	order := make(map[string]int)
	for i, tag := range m.api.Tags {
		if tag != nil {
			order[tag.Name] = i - len(m.api.Tags)
		}
	}
	slices.SortStableFunc(all, func(a, b *operation) int {
		if d := order[a.group] - order[b.group]; d != 0 {
			return d
		}
		return strings.Compare(a.group, b.group)
	})
	return all, nil
}

const maxTools = 2_000

// groupOf returns the group of an operation: its first tag, or else the first segment of its path
// that is not a version.
func groupOf(op *operation) string {
	for _, tag := range op.Tags {
		if tag = aai.CleanLabel(tag, maxName); tag != "" {
			return tag
		}
	}
	for part := range strings.SplitSeq(strings.Trim(op.path, "/"), "/") {
		version := len(part) > 1 && part[0]|0x20 == 'v' && strings.Trim(part[1:], "0123456789.") == ""
		if part != "" && !version && part != "api" && !strings.Contains(part, "{") {
			return aai.CleanLabel(part, maxName)
		}
	}
	return ""
}

// add converts an operation to a tool, or returns why it cannot.
func (m *apiConverter) add(op *operation) (why string) {
	switch op.method {
	case http.MethodOptions, http.MethodTrace:
		return "its method concerns the server, not the API's data"
	case "QUERY":
		return "the gateway sends no requests of the method QUERY"
	}
	if why := m.broken[op.method+" "+op.path]; why != "" {
		return why
	}
	auth, why := m.loginOf(op)
	if why != "" {
		return why
	}
	server, why := m.serverOf(op)
	if why != "" {
		return why
	}
	if auth != nil && server != "" && !netguard.SharesLogin(m.section.BaseURL, server) {
		auth = m.furtherLogin(nameOf(hostOf(server)+"_"+auth.Login), auth)
	}
	d := catalog.ToolDeclaration{Description: describe(op), Group: op.group}
	a := &arguments{maker: m, op: op, path: op.route, login: auth, server: server}
	if why := a.collect(); why != "" {
		return why
	}
	if d.Params, why = a.schema(); why != "" {
		return why
	}
	d.Returns = returns(op)
	d.Recipe = a.recipe()
	effect := m.effect(op)
	d.Effect = &effect
	if m.options.Driver != nil {
		if _, err := m.options.Driver.Compile(d.Recipe); err != nil {
			return "it cannot be sent: " + aai.AsError(err).Message
		}
	}
	d.Name = m.toolName(op)
	d.Recipe.Tool, d.Recipe.App = d.Name, m.doc.ID
	m.section.Tools = append(m.section.Tools, d)
	return ""
}

// describe returns the description of an operation for agents.
func describe(op *operation) string {
	summary, more := firstWords(op.Summary, maxText), firstWords(op.Description, maxText)
	words := summary
	switch {
	case summary == "":
		words = more
	case more != "" && len(more) <= 160 &&
		!strings.EqualFold(strings.TrimRight(summary, "."), strings.TrimRight(more, ".")):
		words = strings.TrimRight(summary, ". ") + ". " + more
	}
	if words == "" {
		words = op.words()
	}
	if op.Deprecated {
		words = "Deprecated. " + words
	}
	return aai.CleanLabel(words, maxText)
}

// effect returns the effect of an operation: by its method, unless its words suggest data loss.
func (m *apiConverter) effect(op *operation) aai.Effect {
	name := strings.Join(withoutMethod(splitName(op.OperationID), op.method), " ")
	last := op.path[strings.LastIndexByte(op.path, '/')+1:]
	if strings.Contains(last, "{") {
		last = ""
	}
	switch op.method {
	case http.MethodDelete:
		return aai.Destroys
	case http.MethodGet, http.MethodHead:
		verb, _, _ := strings.Cut(name, " ")
		if m.isDestructive(verb) || m.isDestructive(strings.Join(splitName(last), " ")) {
			return aai.Destroys
		}
		return aai.Reads
	}
	if m.isDestructive(name) || m.isDestructive(strings.Join(splitName(last), " ")) || m.isDestructive(op.Summary) {
		return aai.Destroys
	}
	return aai.Changes
}

// withoutMethod removes the method's own name at the beginning or the end of an id, where frameworks
// put it: the "post" of "create_item_items__post" publishes nothing.
func withoutMethod(words []string, method string) []string {
	method = strings.ToLower(method)
	if n := len(words); n > 1 && words[n-1] == method {
		words = words[:n-1]
	}
	if len(words) > 1 && words[0] == method && method != "get" {
		words = words[1:]
	}
	return words
}

// isDestructive reports whether words suggest data loss, in the terms of apps or APIs.
func (m *apiConverter) isDestructive(words string) bool {
	if words == "" {
		return false
	}
	for word := range strings.FieldsSeq(strings.ToLower(words)) {
		switch strings.Trim(word, ".,:;!?()'\"") {
		case "delete", "remove", "destroy", "purge", "erase", "wipe", "clear", "drop", "reset", "send", "pay", "refund",
			"cancel", "void",
			"revoke", "charge", "capture", "withdraw", "payout", "transfer", "terminate", "deactivate", "disable",
			"archive", "ban",
			"expire", "rotate", "publish", "merge", "rollback", "revert", "overwrite":
			return true
		}
	}
	return m.options.IsDestructive != nil && m.options.IsDestructive(words)
}

// splitName returns the words of a name such as "listOrderLines" or "orders/list".
func splitName(name string) []string {
	var words []string
	begin := 0
	flush := func(end int) {
		if end > begin {
			words = append(words, strings.ToLower(name[begin:end]))
		}
	}
	for i := range len(name) {
		c := name[i]
		switch {
		case !isNameRune(rune(c)) || c == '_' || c == '-':
			flush(i)
			begin = i + 1
		case c >= 'A' && c <= 'Z' && i > begin && (name[i-1] < 'A' || name[i-1] > 'Z'):
			flush(i)
			begin = i
		}
	}
	flush(len(name))
	return words
}

// returns returns the schema of an operation's successful response, or nil if unknown.
func returns(op *operation) json.RawMessage {
	if op.Responses == nil {
		return nil
	}
	for _, status := range []string{"200", "201", "202", "203", "2XX", "206", "default"} {
		response := op.Responses.Value(status)
		if response == nil || response.Value == nil {
			continue
		}
		_, media := jsonMedia(response.Value.Content)
		if media == nil || media.Schema == nil {
			continue
		}
		for _, detail := range []schemaDetail{{depth: 4, words: 60}, {depth: 3}, {depth: 2}, {depth: 1}} {
			c := &schemaConverter{schemaDetail: detail, answers: true}
			if text, err := json.Marshal(c.schema(media.Schema, 0)); err == nil && len(text) <= maxReturns &&
				isReadableSchema(text) {
				return text
			}
		}
		return nil
	}
	return nil
}

// maxNamed limits the groups that an error names.
const maxNamed = 30

// firstNames returns the first maxNamed names as a list.
func firstNames(names []string) string {
	if len(names) > maxNamed {
		return aai.CleanText(strings.Join(names[:maxNamed], ", "), 2000) + fmt.Sprintf(" and %d more.", len(names)-maxNamed)
	}
	return aai.CleanText(strings.Join(names, ", "), 2000) + "."
}
