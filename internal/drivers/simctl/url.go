package simctl

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"github.com/gybob/aai-gateway"
)

// DeviceParam is the parameter that names the simulator. It is not a part of the URL unless the template has it.
const DeviceParam = "device"

// A part of a template is a constant, a parameter, or a pair of a query that is left out if its parameter has no value.
type part struct {
	constant string
	param    string
	optional bool
}

// compileURL splits a template at its placeholders. Its error is AAI_JSON_INVALID.
func compileURL(template, scheme string) ([]part, error) {
	prefix, _, _ := strings.Cut(template, "${")
	if scheme == "" || !strings.HasPrefix(prefix, scheme+":") {
		return nil, aai.Errorf(aai.DescriptorInvalid, "url_template: expected a URL that begins with the app's scheme, such as %q, got %q", scheme+"://send?to=${to}", aai.CleanLabel(template, 100))
	}
	var parts []part
	for rest := template; rest != ""; {
		constant, after, found := strings.Cut(rest, "${")
		if !found {
			return append(parts, part{constant: rest}), nil
		}
		name, tail, closed := strings.Cut(after, "}")
		if !closed {
			return nil, aai.Errorf(aai.DescriptorInvalid, "url_template: %q has no \"}\"", "${"+aai.CleanLabel(name, 60))
		}
		p := part{constant: constant, param: name}
		// "&cc=${cc}" is left out as a whole
		if i := strings.LastIndexByte(constant, '&'); i >= 0 && strings.HasSuffix(constant, "=") && (tail == "" || tail[0] == '&' || tail[0] == '#') {
			parts = append(parts, part{constant: constant[:i]})
			p.constant, p.optional = constant[i:], true
		}
		parts = append(parts, p)
		rest = tail
	}
	return parts, nil
}

// resolve returns the URL with the arguments. Its error is INVALID_PARAMS.
func resolve(parts []part, args map[string]any) (string, error) {
	var b strings.Builder
	for _, p := range parts {
		value, given := args[p.param]
		given = given && value != nil
		switch {
		case p.param == "":
			b.WriteString(p.constant)
			continue
		case !given && p.optional:
			continue
		case !given:
			return "", aai.Errorf(aai.InvalidParams, "%s: expected a value, since it is a part of the URL", aai.CleanLabel(p.param, 60))
		}
		text, isText := value.(string)
		if !isText {
			written, err := json.Marshal(value)
			if err != nil {
				return "", aai.Errorf(aai.InvalidParams, "%s: expected a JSON value", aai.CleanLabel(p.param, 60))
			}
			text = string(written)
		}
		b.WriteString(p.constant + strings.ReplaceAll(url.QueryEscape(text), "+", "%20"))
	}
	if _, err := url.Parse(b.String()); err != nil {
		return "", aai.Errorf(aai.InvalidParams, "the arguments make no URL: %s", aai.CleanText(fmt.Sprint(err), 200))
	}
	return b.String(), nil
}
