package aai

import (
	"slices"
	"strings"

	"aai/internal/hygiene"
)

// maxSaid is how much of an error's message is looked through and passed on, in bytes.
const maxSaid = 16 << 10

// unsaid returns what an error says as it may be put on record, and the error as the
// caller may have it: what is secret among the arguments goes into the agent's
// conversation no second time. The windows of apps are an exception for what is too
// short to tell: all that is set in a window counts as secret, and "it is now 5 and
// not 3" must say so.
func (r *Request) unsaid(err *Error) (said string, told *Error) {
	defer func() {
		if recover() != nil {
			e := *err
			said, e.Message = hygiene.Withheld, hygiene.Withheld
			told = &e
		}
	}()
	message := err.Message
	if len(message) > maxSaid {
		message = strings.ToValidUTF8(message[:maxSaid], "") + hygiene.CutMark
	}
	secrets := r.secrets()
	all := hygiene.NewVeil(secrets)
	e := *err
	said = all.Over(message)
	e.Message = said
	if r.App != nil && r.App.OperatesOthers() && said != message {
		e.Message = hygiene.NewVeil(slices.DeleteFunc(secrets, func(secret string) bool { return len(secret) < tellingSecret })).Over(message)
	}
	if e.Message == err.Message {
		return said, err
	}
	return said, &e
}

// secrets returns the values of the call that are secret. Without a tool nobody
// knows which parameters are, but some are called so.
func (r *Request) secrets() (values []string) {
	var names []string
	if r.Tool != nil {
		names = r.Tool.Secret
	}
	hygiene.Conceal(r.Call.Args, names, func(value any) any {
		values = hygiene.AppendTexts(values, value)
		return nil
	})
	return values
}

// tellingSecret is how many bytes what is set in a window has at least that its
// caller is not told again.
const tellingSecret = 6
