package introspect

import (
	"slices"

	"github.com/gybob/aai-gateway"
)

// effectOf returns the effect of a method: from the table of known interfaces, or from its name.
// A clear getter with a result reads. Every other method is destructive. byName reports whether
// only the name suggests reading.
func effectOf(iface string, m *method) (effect aai.Effect, byName bool) {
	if k, ok := knownMembers(iface)[m.Name]; ok {
		return k.effect, false
	}
	if isGetter(m) {
		return aai.Reads, true
	}
	return aai.Destroys, false
}

// isGetter reports whether a method is clearly a getter. Its first word is that of a getter, such as get or is; it
// has a result, and no other word names an action.
func isGetter(m *method) bool {
	words := split(m.Name)
	if len(words) > 1 && words[len(words)-1] == "exists" && len(m.Outs) == 1 && m.Outs[0].Type == "b" {
		words = append([]string{"has"}, words[:len(words)-1]...)
	}
	if len(words) < 2 || len(m.Outs) == 0 || !slices.Contains([]string{"get", "list", "is", "has", "can"}, words[0]) {
		return false
	}
	acting := actingWords()
	if words[0][0] != 'g' && words[0][0] != 'l' && len(m.Outs) == 1 && m.Outs[0].Type == "b" {
		acting = acting[:3] // "is open?" opens nothing
	}
	for _, word := range words[1:] {
		if slices.Contains(acting, word) {
			return false
		}
	}
	return true
}

// actingWords returns words that show that an apparent getter does more: it creates, takes,
// starts, deletes, discloses or advances something. The first three join it with another action.
func actingWords() []string {
	return []string{
		"and", "or", "then", "new", "next", "once", "create", "make", "open", "start", "begin", "run", "exec", "execute",
		"launch", "spawn", "load", "install",
		"set", "put", "add", "insert", "update", "change", "write", "save", "store", "apply", "enable", "disable", "toggle",
		"switch", "activate", "trigger", "invoke", "call", "do",
		"take", "pop", "grab", "acquire", "request", "reserve", "allocate", "lock", "unlock", "inhibit", "register",
		"subscribe", "watch", "connect", "attach", "focus", "claim",
		"delete", "remove", "erase", "wipe", "destroy", "discard", "clear", "reset", "flush", "purge", "empty", "drop",
		"free", "release", "close", "quit", "exit", "kill", "stop",
		"send", "post", "publish", "submit", "pay", "buy", "transfer", "move", "rename", "replace", "overwrite", "shutdown",
		"reboot", "restart", "logout", "suspend", "hibernate",
		"secret", "secrets", "password", "passwords", "passphrase", "token", "tokens", "cookie", "cookies", "credential",
		"credentials", "key", "nonce", "ticket", "session", "fd",
	}
}
