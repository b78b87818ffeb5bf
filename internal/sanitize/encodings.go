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

// maxQuoteDepth is the depth of nested quoting: a site quotes the JSON it received in its error,
// and the driver quotes the error.
const maxQuoteDepth = 3

// SecretEncodings returns the secrets in all usual encodings: unchanged, cleaned, quoted, in
// URLs, in base64 and in hexadecimal. Secrets of less than four bytes are only returned
// unchanged, since their encodings occur in other words. Drivers use it to remove known secrets
// from answers.
func SecretEncodings(secrets []string) []string {
	var all []string
	for _, secret := range secrets {
		all = append(all, secret)
		if len(secret) < minSubstringSecret {
			continue
		}
		forms := []string{
			secret, Label(secret, len(secret)+1), Text(secret, len(secret)+1), strings.TrimSpace(secret),
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
			forms = append(forms, url.QueryEscape(form), url.PathEscape(form), NeutralizeMarkup(form, 2*len(form)))
		}
		for _, form := range slices.Concat([]string{secret}, quotations(secret)) {
			forms = append(forms, base64Forms(form)...)
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

// base64Forms returns the characters that the text has in base64, within other text too: the first
// byte can have three positions in its group of three.
func base64Forms(text string) (forms []string) {
	for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		for before := range 3 {
			whole := encoding.EncodeToString(append(make([]byte, before), text...))
			// The characters at the ends also hold bits of other bytes.
			if form := whole[(8*before+5)/6 : (before+len(text))*8/6]; len(form) >= minCredential {
				forms = append(forms, form)
			}
		}
	}
	return append(forms, base64.RawStdEncoding.EncodeToString([]byte(text)),
		base64.RawURLEncoding.EncodeToString([]byte(text)))
}

// quotations returns the text as JSON and Go write it between quotation marks.
func quotations(text string) []string {
	var loose bytes.Buffer
	e := json.NewEncoder(&loose)
	e.SetEscapeHTML(false)
	_ = e.Encode(text)              // a string can always be encoded
	strict, _ := json.Marshal(text) // likewise
	var inside []string
	for _, quoted := range []string{strings.TrimSuffix(loose.String(), "\n"), string(strict), strconv.Quote(text),
		strconv.QuoteToASCII(text)} {
		inside = append(inside, quoted[1:len(quoted)-1])
	}
	return inside
}

// TruncationMark marks the place where a text was cut.
const TruncationMark = "…"

// redactTruncated removes the beginning of a secret before each TruncationMark.
func redactTruncated(text string, secrets []string) string {
	parts := strings.SplitAfter(text, TruncationMark)
	for i, part := range parts {
		kept, cut := strings.CutSuffix(part, TruncationMark)
		if !cut {
			continue
		}
		left := 0 // bytes of a secret at the end
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
