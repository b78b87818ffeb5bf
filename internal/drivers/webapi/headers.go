package webapi

import (
	"maps"
	"mime"
	"net/http"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway"
)

// userAgent is the User-Agent header if the descriptor sets none.
const userAgent = "aai-gateway"

// setHeaders reads the descriptor's headers. The tool's headers override the app's.
func (t *tool) setHeaders() error {
	t.headers = http.Header{
		"Accept":     {"application/json, text/*;q=0.9, */*;q=0.8"},
		"User-Agent": {userAgent},
	}
	h := t.recipe.HTTP
	if err := t.addHeaders("default_headers", h.DefaultHeaders); err != nil {
		return err
	}
	if err := t.addHeaders("headers", h.Headers); err != nil {
		return err
	}
	t.headers.Del("Accept-Encoding") // the driver knows which codings it can decompress
	return nil
}

func (t *tool) addHeaders(field string, headers map[string]string) error {
	seen := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		at := field + "." + aai.CleanLabel(name, 60)
		key := http.CanonicalHeaderKey(name)
		switch {
		case !isToken(name):
			return aai.Errorf(aai.DescriptorInvalid, "%s: expected the name of an HTTP header", at)
		case isReserved(key):
			return aai.Errorf(aai.DescriptorInvalid, "%s: is set by the gateway; a descriptor may not", at)
		case t.isCredential(key):
			return aai.Errorf(aai.DescriptorInvalid, "%s: is reserved for the person's key; a descriptor may not set it", at)
		case seen[key]:
			return aai.Errorf(aai.DescriptorInvalid, "%s: expected every header once; names differ by more than case", at)
		case strings.ContainsFunc(headers[name], func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }):
			return aai.Errorf(aai.DescriptorInvalid, "%s: expected one line without control characters", at)
		}
		seen[key] = true
		t.headers.Set(key, headers[name])
	}
	return nil
}

// isToken reports whether name is a token (RFC 9110, section 5.6.2).
func isToken(name string) bool {
	for i := range len(name) {
		c := name[i]
		letter, digit := c|0x20 >= 'a' && c|0x20 <= 'z', c >= '0' && c <= '9'
		if !letter && !digit && !strings.ContainsRune("!#$%&'*+-.^_`|~", rune(c)) {
			return false
		}
	}
	return name != ""
}

// isReserved reports whether a descriptor must not set the header. Such headers carry credentials,
// frame the message, or can make a server assume another sender, address or method than the user
// approved. Many servers take "_" for "-".
func isReserved(key string) bool {
	key = http.CanonicalHeaderKey(strings.ReplaceAll(key, "_", "-"))
	switch key {
	case "Host", "Content-Length", "Transfer-Encoding", "Content-Encoding", "Connection", "Keep-Alive", "Upgrade",
		"Te", "Trailer", "Expect", "Authorization", "Cookie", "Dpop", "Forwarded", "Via", "X-Real-Ip",
		"X-Http-Method", "X-Http-Method-Override", "X-Method-Override", "X-Original-Url", "X-Original-Host", "X-Rewrite-Url":
		return true
	}
	return strings.HasPrefix(key, "Proxy-") || strings.HasPrefix(key, "X-Forwarded-")
}

// isCredential reports whether the header carries the credentials.
func (t *tool) isCredential(key string) bool {
	return slices.ContainsFunc(t.recipe.HTTP.Auth.Keys(), func(k aai.KeyPlace) bool {
		return k.In == inHeader && strings.EqualFold(strings.ReplaceAll(k.Name, "_", "-"), strings.ReplaceAll(key, "_", "-"))
	})
}

// bodyForm is the format of a request body.
type bodyForm int

const (
	noBody   bodyForm = iota
	asJSON            // an object
	asFields          // application/x-www-form-urlencoded
	asParts           // multipart/form-data
	asIs              // another type: the value is the body
)

func (t *tool) setBodyForm() error {
	const jsonType, formType, partsType = "application/json", "application/x-www-form-urlencoded", "multipart/form-data"
	declared := t.headers.Get("Content-Type")
	if declared == "" {
		t.body = asJSON
		t.headers.Set("Content-Type", jsonType)
		return nil
	}
	media, _, err := mime.ParseMediaType(declared)
	switch {
	case err == nil && isJSON(media):
		t.body = asJSON
	case err == nil && media == formType:
		t.body = asFields
	case err == nil && media == partsType:
		t.body = asParts
	case err == nil && t.bodyIsParam:
		t.body = asIs
	default:
		return invalid("headers.Content-Type", jsonType+", "+formType+" or "+partsType+
			", the supported types for parameters that are not the whole body", declared)
	}
	return nil
}

// isJSON reports whether a media type means JSON (RFC 6839, section 3.1).
func isJSON(media string) bool {
	return media == "application/json" || media == "text/json" || strings.HasSuffix(media, "+json")
}
