package importers

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway"
)

// A reference is a placeholder that a client replaces by a value, such as "${env:TOKEN}",
// "${TOKEN:-none}" or "${input:token}".
type reference struct {
	variable       string // of the client's environment; empty: another source or a prompt
	shown          string // displayable form, without a default value
	prefix, suffix string // text around it
	hasDefault     bool   // it has a default value
}

// referenceIn returns the first reference in a value. "$TOKEN" counts only as the whole value.
func referenceIn(value string) (r reference, found bool) {
	if name, whole := strings.CutPrefix(value, "$"); whole && isVariable(name) {
		return reference{variable: name, shown: value}, true
	}
	before, rest, _ := strings.Cut(value, "${")
	inner, after, closed := strings.Cut(rest, "}")
	if !closed {
		return reference{}, false
	}
	r = reference{shown: "${…}", prefix: before, suffix: after}
	inner, _, r.hasDefault = strings.Cut(inner, ":-")
	kind, name, typed := strings.Cut(inner, ":")
	if !typed {
		kind, name = "env", inner
	}
	if isVariable(strings.ReplaceAll(name, "-", "_")) && isVariable(kind) {
		r.shown = "${" + inner + "}"
	}
	if kind == "env" && isVariable(name) {
		r.variable = name
	}
	return r, true
}

// isEntire reports whether the reference is the whole value.
func (r reference) isEntire() bool { return r.prefix == "" && r.suffix == "" }

// variables reads the server's environment variables: names for the file, values for the vault.
func (in *serverReader) variables() {
	for name, value := range in.stringMap("env", "envs", "environment") {
		if !isVariable(name) {
			in.skip("its variable %s has an invalid name", quotedSetting(name))
			continue
		}
		in.addVariable(name, value)
	}
	for _, name := range in.list("env_keys", "env_vars") { // from the client's own environment
		s, _ := name.(string)
		if _, given := in.values[s]; !given && isVariable(s) {
			in.values[s] = ""
		}
	}
}

// dropUnresolved removes the variables without a value, and notes where each must come from.
func (in *serverReader) dropUnresolved(id string) {
	for _, name := range slices.Sorted(maps.Keys(in.values)) {
		if in.values[name] != "" {
			continue
		}
		delete(in.values, name)
		r, refers := in.references[name]
		switch {
		case !refers || r.isEntire() && !r.hasDefault && (r.variable == name || r.variable == ""):
			in.note("the variable %s has no value in the client's file: it is in the client's environment, or the client "+
				"asks for it", name)
		case r.isEntire():
			in.note("the value of the variable %s is %s in the client's file, which is not taken over; give it: aai-gateway "+
				"mcp env %s %s", name, r.shown, id, name)
		default:
			in.note("the value of the variable %s has %s among other words in the client's file, and is not taken over; give "+
				"it whole: aai-gateway mcp env %s %s", name, r.shown, id, name)
		}
	}
}

// loginKey reads the value of the login's header after the prefix: a key for the vault, or a
// reference to a variable that is read by name.
func (in *serverReader) loginKey(header, value, id string) {
	r, refers := referenceIn(value)
	if !refers {
		in.key = value
		return
	}
	if r.suffix != "" || !isScheme(r.prefix) {
		follows := ""
		if in.auth.Prefix != "" {
			follows = " that follows " + quotedSetting(in.auth.Prefix)
		}
		in.note("its header %s has %s among other words, which are not taken over; give all of it%s: aai-gateway auth login %s", aai.CleanLabel(header, 60), r.shown, follows, id)
		return
	}
	in.auth.Prefix += r.prefix
	if r.variable == "" {
		in.note("its key is not in the client's file, which asks for it (%s); give it: aai-gateway auth login %s",
			r.shown, id)
		return
	}
	in.auth.EnvVar = r.variable
	otherwise := ""
	if r.hasDefault {
		otherwise = "; the client's default for it is not taken over"
	}
	in.note("its key is read from the variable %s, if login.env of the configuration names that%s; or give it: "+
		"aai-gateway auth login %s", r.variable, otherwise, id)
}

// isScheme reports whether the text before a key is a scheme such as "Token " or "token=", and
// not part of the key.
func isScheme(words string) bool {
	name := strings.TrimRight(words, " =")
	return words == "" || len(words) == len(name)+1 && len(name) <= 20 &&
		strings.Trim(strings.ToLower(name), "abcdefghijklmnopqrstuvwxyz-") == ""
}

func (in *serverReader) note(format string, args ...any) {
	in.notes = append(in.notes, fmt.Sprintf(format, args...))
}
