package params

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/gybob/aai-gateway"
)

// CheckText returns an error for a text that no field accepts: with a control character other than
// a line end or tab, or invalid UTF-8.
func CheckText(call *aai.Call) error {
	for _, name := range []string{"text", "value"} {
		if err := checkText(name, String(call, name)); err != nil {
			return err
		}
	}
	for n, p := range FieldValues(call) {
		if err := checkText(fmt.Sprintf("fields[%d].value", n), p.Value); err != nil {
			return err
		}
	}
	return nil
}

func checkText(name, text string) error {
	at := 0
	for i, r := range text {
		at++
		got := fmt.Sprintf("%U", r)
		if r == utf8.RuneError && !strings.HasPrefix(text[i:], string(utf8.RuneError)) {
			got = "a byte that is not valid UTF-8"
		} else if r >= ' ' && r != 0x7f || strings.ContainsRune("\n\r\t", r) {
			continue
		}
		e := aai.Errorf(aai.InvalidParams, "%s: expected no control characters but line breaks and tabs, got %s as character %d", name, got, at)
		e.Delivery, e.Hint = aai.NotDelivered, "Leave it out. Other keys than characters are pressed by ax_key_press."
		return e
	}
	return nil
}
