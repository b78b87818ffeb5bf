package importers

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway"
)

// addBody adds the body: each member as a parameter if it is a plain object, else the whole body
// as one.
func (a *arguments) addBody() (why string) {
	if a.op.RequestBody == nil || a.op.RequestBody.Value == nil || len(a.op.RequestBody.Value.Content) == 0 {
		return ""
	}
	body := a.op.RequestBody.Value
	const formType = "application/x-www-form-urlencoded"
	media, found := jsonMedia(body.Content)
	if found == nil {
		media, found = formType, body.Content[formType]
	}
	switch {
	case a.op.method == http.MethodGet || a.op.method == http.MethodHead:
		if body.Required {
			return "it sends a body with " + a.op.method
		}
		return ""
	case found == nil:
		names := strings.Join(slices.Sorted(maps.Keys(body.Content)), ", ")
		if body.Required {
			return "its body is " + aai.CleanLabel(names, 100) + "; expected JSON or a form"
		}
		a.maker.note(a.op.words() + ": its body is " + aai.CleanLabel(names, 100) +
			", which may be left out; the tool is without it")
		return ""
	}
	if media == "" {
		media = "application/json"
	}
	a.media, a.body = media, found
	if media != "application/json" {
		a.headers = map[string]string{"Content-Type": media}
	}
	shape := (&schemaConverter{schemaDetail: schemaDetail{depth: 1}}).schema(found.Schema, 0)
	if members, ok := plainMembers(shape); ok {
		a.addMembers(members, shape)
		return ""
	}
	if media == formType {
		return "its body is a form that is no plain object"
	}
	words := body.Description
	if words == "" {
		words = "The body of the request"
	}
	arg := argument{
		name: a.freeName("body", "body"), required: body.Required, words: words, schema: found.Schema,
		send: &aai.SendRecipe{In: "body", Whole: true},
	}
	a.list = append(a.list, arg)
	return ""
}

// maxMembers limits the members of a body that become parameters.
const maxMembers = 150

// plainMembers returns the members of a schema that is a plain object.
func plainMembers(shape object) ([]string, bool) {
	properties, _ := shape["properties"].(object)
	for key, value := range shape {
		switch key {
		case "properties", "required", "description", "type":
		case "additionalProperties":
			if value != false {
				return nil, false
			}
		default:
			return nil, false
		}
	}
	if shape["type"] != "object" || len(properties) == 0 || len(properties) > maxMembers {
		return nil, false
	}
	return slices.Sorted(maps.Keys(properties)), true
}

// addMembers adds the members of the body. The body is always sent, so its required members are
// required even if the document does not require the body.
func (a *arguments) addMembers(members []string, shape object) {
	required, _ := shape["required"].([]string)
	for _, member := range members {
		arg := argument{name: a.freeName(member, "body"), required: slices.Contains(required, member),
			send: &aai.SendRecipe{In: "body"}}
		if arg.name != member {
			arg.send.Name = member
		}
		part, isObject := member, false
		if o, ok := shape["properties"].(object)[member].(object); ok {
			isObject = o["type"] == nil ||
				o["type"] != "string" && o["type"] != "integer" && o["type"] != "number" && o["type"] != "boolean" &&
					o["type"] != "array"
		}
		if encoding := a.body.Encoding[part]; encoding != nil && a.media != "application/json" {
			arg.send.Style, arg.send.Explode = encoding.Style, encoding.Explode
			if arg.send.Style == "form" {
				arg.send.Style = ""
			}
			if arg.send.Style == "deepObject" {
				arg.send.Explode = nil
			}
		}
		form := a.media == "application/x-www-form-urlencoded"
		if a.op.method != http.MethodDelete && arg.send.Name == "" && arg.send.Style == "" && arg.send.Explode == nil &&
			(!form || !isObject) {
			arg.send = nil
		}
		a.list = append(a.list, arg)
	}
}
