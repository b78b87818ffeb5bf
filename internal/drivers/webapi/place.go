package webapi

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/sanitize"
)

// Places for a parameter's value.
const (
	inPath   = "path"
	inQuery  = "query"
	inHeader = "header"
	inCookie = "cookie"
	inBody   = "body"
)

// Styles for lists and objects: those of OpenAPI, and JSON.
const (
	simple         = "simple"
	label          = "label"
	matrix         = "matrix"
	form           = "form"
	spaceDelimited = "spaceDelimited"
	pipeDelimited  = "pipeDelimited"
	deepObject     = "deepObject"
	styleJSON      = "json"
)

// paramPlace is the place and the style of a parameter's value.
type paramPlace struct {
	in, name string
	style    string
	explode  bool
	isBody   bool // the parameter is the entire body
	file     bool // the value names a file with the content
	media    string
	reserved bool // characters that separate no parameters are sent as they are
	declared bool // by the descriptor; otherwise objects are not allowed in an address
}

// stylesIn returns the styles of a place, the default first.
func stylesIn(in string) []string {
	switch in {
	case inPath:
		return []string{simple, label, matrix}
	case inHeader:
		return []string{simple, styleJSON}
	case inCookie:
		return []string{form, styleJSON}
	}
	return []string{form, spaceDelimited, pipeDelimited, deepObject, styleJSON}
}

// setPlaces decides the place of each parameter.
func (t *tool) setPlaces() error {
	r := t.recipe
	t.defaultPlace = inBody
	switch t.method {
	case http.MethodGet, http.MethodHead, http.MethodDelete:
		t.defaultPlace = inQuery
	}
	for name := range r.HTTP.Send {
		if !slices.Contains(r.Params, name) {
			return invalid("send", "the names of parameters", name)
		}
	}
	t.places = make(map[string]paramPlace, len(r.Params))
	bodies := 0
	for _, name := range r.Params {
		p, err := t.newPlace(name)
		if err != nil {
			return err
		}
		for other, taken := range t.places {
			same := taken.name == p.name || p.in == inHeader && strings.EqualFold(taken.name, p.name)
			if taken.in == p.in && same && p.in != inPath {
				return invalid("send."+aai.CleanLabel(name, 60),
					"another place; this one is taken by "+aai.CleanLabel(other, 60), p.name)
			}
		}
		t.places[name] = p
		t.bodyIsParam = t.bodyIsParam || p.isBody
		if p.in == inBody {
			bodies++
		}
		if p.in != inPath {
			t.unplacedParams = append(t.unplacedParams, name)
		}
	}
	if t.bodyIsParam && bodies > 1 {
		return invalid("send", "only one parameter, if that is the whole body", "several")
	}
	return t.setBody(bodies)
}

// setBody decides the body format. parameters is the number of body parameters.
func (t *tool) setBody(parameters int) error {
	if parameters == 0 {
		t.headers.Del("Content-Type")
		return nil
	}
	if err := t.setBodyForm(); err != nil {
		return err
	}
	for name, p := range t.places {
		if p.file && (t.body != asParts || p.isBody) && t.body != asIs {
			return invalid("send."+aai.CleanLabel(name, 60)+".file", "a body of several parts, or one that is the file",
				t.headers.Get("Content-Type"))
		}
	}
	return nil
}

// newPlace reads the place of one parameter.
func (t *tool) newPlace(name string) (paramPlace, error) {
	s, told := t.recipe.HTTP.Send[name]
	at := "send." + aai.CleanLabel(name, 60)
	templated := slices.Contains(t.address.params, name)
	p := paramPlace{in: s.In, name: cmp.Or(s.Name, name), style: s.Style, isBody: s.Whole, file: s.File, media: s.Media, reserved: s.Reserved, declared: told}
	if !told {
		p.in = t.defaultPlace
		if templated {
			p.in = inPath
		}
	}
	styles := stylesIn(p.in)
	p.style = cmp.Or(p.style, styles[0])
	p.explode = p.style == form
	if s.Explode != nil {
		p.explode = *s.Explode
	}
	switch {
	case !slices.Contains([]string{inPath, inQuery, inHeader, inCookie, inBody}, p.in):
		return p, invalid(at+".in", `"path", "query", "header", "cookie" or "body"`, p.in)
	case (p.in == inPath) != templated:
		return p, invalid(at+".in", `"path" for the names in the path's braces, and only for those`, p.in)
	case !slices.Contains(styles, p.style):
		return p, invalid(at+".style", "one of the place "+p.in, p.style)
	case p.reserved && p.in != inQuery:
		return p, invalid(at+".reserved", "a parameter of the query", p.in)
	case p.file && (p.in != inBody || t.recipe.HTTP.Origin != ""):
		return p, invalid(at+".file", "a parameter of the body, in a descriptor of this computer", p.in)
	case p.media != "" && !sanitize.IsMediaType(p.media):
		return p, invalid(at+".media", "a media type such as image/png", p.media)
	case p.isBody && (p.in != inBody || s.Style != "" && s.Style != styleJSON):
		return p, invalid(at+".whole", "a body of JSON", p.in)
	case p.in == inBody && (t.method == http.MethodGet || t.method == http.MethodHead):
		return p, invalid(at+".in", "another place; "+t.method+" has no body", p.in)
	}
	return p, t.checkPlace(at, p)
}

// checkPlace rejects a place that the gateway, the descriptor or the user's key occupies.
func (t *tool) checkPlace(at string, p paramPlace) error {
	auth := t.recipe.HTTP.Auth
	switch p.in {
	case inQuery:
		if slices.ContainsFunc(auth.Keys(), func(k aai.KeyPlace) bool { return k.In == inQuery && k.Name == p.name }) {
			return aai.Errorf(aai.DescriptorInvalid,
				"parameters: %s is reserved for the person's key; no parameter may have this name", aai.CleanLabel(p.name, 60))
		}
		if _, fixed := t.recipe.HTTP.Query[p.name]; fixed {
			return invalid(at+".name", `a name that "query" does not have`, p.name)
		}
	case inHeader:
		key := http.CanonicalHeaderKey(p.name)
		switch _, fixed := t.headers[key]; {
		case !isToken(p.name):
			return invalid(at+".name", "the name of an HTTP header", p.name)
		case isReserved(key) || fixed || key == "Content-Type" || key == "Accept-Encoding":
			return invalid(at+".name", "a header that neither the gateway nor the descriptor sets", p.name)
		case t.isCredential(key):
			return invalid(at+".name", "another header; this one is reserved for the person's key", p.name)
		}
	case inCookie:
		if !isToken(p.name) {
			return invalid(at+".name", "the name of a cookie", p.name)
		}
		if auth != nil && auth.Kind == aai.AuthCookie {
			return invalid(at+".in", "another place; cookies are reserved for the login", p.in)
		}
	}
	return nil
}

// placeOf returns the place of a parameter, also of one that the descriptor does not name.
func (t *tool) placeOf(name string) paramPlace {
	if p, known := t.places[name]; known {
		return p
	}
	p := paramPlace{in: t.defaultPlace, name: name, style: form, explode: true}
	if t.defaultPlace == inBody && t.bodyIsParam {
		p.in = inQuery
	}
	return p
}
