package sanitize

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// maxQuoteDepth is how often a text is quoted in another: a site quotes in its error
// the JSON it was sent, and the driver quotes the error.
const maxQuoteDepth = 3

// SecretEncodings returns secrets in every way that those who repeat them write them: as
// they are, cleaned, quoted, in a URL, in base64 or hexadecimal. Of a secret of less
// than four bytes, whose writings are parts of other words, there is only itself.
// What a driver knows to be secret it takes out of an answer by these.
func SecretEncodings(secrets []string) []string {
	var all []string
	for _, secret := range secrets {
		all = append(all, secret)
		if len(secret) < minSubstringSecret {
			continue
		}
		forms := []string{
			secret, Label(secret, len(secret)+1), Text(secret, len(secret)+1), strings.TrimSpace(secret),
			base64.RawStdEncoding.EncodeToString([]byte(secret)), base64.RawURLEncoding.EncodeToString([]byte(secret)),
			hex.EncodeToString([]byte(secret)), strings.ToUpper(hex.EncodeToString([]byte(secret))),
		}
		for range maxQuoteDepth {
			for _, form := range forms {
				forms = append(forms, quotations(form)...)
			}
			slices.Sort(forms)
			forms = slices.Compact(forms)
		}
		for _, form := range forms {
			forms = append(forms, url.QueryEscape(form), url.PathEscape(form))
		}
		slices.Sort(forms)
		forms = slices.Compact(forms)
		for _, form := range forms {
			if len(form) >= minSubstringSecret && form != secret {
				all = append(all, form)
			}
		}
	}
	return all
}

// quotations are a text as JSON and Go have it between quotation marks.
func quotations(text string) []string {
	var loose bytes.Buffer
	e := json.NewEncoder(&loose)
	e.SetEscapeHTML(false)
	_ = e.Encode(text)              // a text can be encoded
	strict, _ := json.Marshal(text) // and so here
	var inside []string
	for _, quoted := range []string{strings.TrimSuffix(loose.String(), "\n"), string(strict), strconv.Quote(text), strconv.QuoteToASCII(text)} {
		inside = append(inside, quoted[1:len(quoted)-1])
	}
	return inside
}

// TruncationMark is where a text was cut that was too long.
const TruncationMark = "…"

// redactTruncated takes out of a text what is left of a secret before a place where the
// text was cut.
func redactTruncated(text string, secrets []string) string {
	parts := strings.SplitAfter(text, TruncationMark)
	for i, part := range parts {
		kept, cut := strings.CutSuffix(part, TruncationMark)
		if !cut {
			continue
		}
		left := 0 // how much of a secret is at the end
		for _, secret := range secrets {
			for n := min(len(secret), len(kept)); n > left && n >= minSubstringSecret; n-- {
				if strings.HasSuffix(kept, secret[:n]) {
					left = n
				}
			}
		}
		if left > 0 {
			parts[i] = kept[:len(kept)-left] + Redacted + TruncationMark
		}
	}
	return strings.Join(parts, "")
}
