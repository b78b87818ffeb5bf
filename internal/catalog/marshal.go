package catalog

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/gybob/aai-gateway"
)

// Marshal encodes the document as a descriptor that Parse reads as the same app. It uses the
// single-platform dialect ("platform", "app", "execution") if possible. It uses the dialect with
// "platforms" for several platforms, scripts of macOS, intents and URLs.
//
// Marshal parses its result: the error is an *aai.Error with code AAI_JSON_INVALID that names the
// place in the rejected text. The types "stdio" and "acp" always fail, because the document does
// not keep their settings.
func (d *Document) Marshal() ([]byte, error) {
	p := &parser{kinds: kinds()}
	single := false
	if len(d.Sections) == 1 {
		for _, e := range p.executions() {
			single = single || e.name == d.Sections[0].Automation && !e.unwritable
		}
	}
	var whole, app, platforms objectText
	whole.put("schema_version", "1.0")
	whole.add("version", d.Version)
	if single {
		s := &d.Sections[0]
		whole.put("platform", s.Platform)
		whole.add("generated", d.Generated)
		app.put("id", d.ID)
		d.writeApp(&app)
		whole.put("app", app)
		execution := objectText{{"type", s.Automation}}
		execution.addAll(s.AppAddress)
		whole.put("execution", execution)
		p.writeTools(s, &whole)
	} else {
		whole.put("appId", d.ID)
		d.writeApp(&whole)
		whole.add("generated", d.Generated)
		for i := range d.Sections {
			s := &d.Sections[i]
			section := objectText{{"automation", s.Automation}}
			section.addAll(s.AppAddress)
			p.writeTools(s, &section)
			platforms.put(s.Platform, section) // in order: without a driver for any, the first one counts
		}
		whole.put("platforms", platforms)
	}
	var written bytes.Buffer
	text, err := whole.MarshalJSON()
	if err == nil {
		err = json.Indent(&written, text, "", "  ")
	}
	if err != nil {
		return nil, aai.Errorf(aai.DescriptorInvalid, "the descriptor cannot be written: %w", err)
	}
	written.WriteByte('\n')
	if _, err := Parse(written.Bytes(), Options{}); err != nil {
		return nil, err
	}
	return written.Bytes(), nil
}

// objectText is a JSON object with its members in the order of the text.
type objectText []memberText

type memberText struct {
	name  string
	value any
}

// put appends a member.
func (o *objectText) put(name string, value any) { *o = append(*o, memberText{name, value}) }

// add appends a member, unless its value is the zero value.
func (o *objectText) add(name string, value any) {
	if v := reflect.ValueOf(value); v.IsValid() && !v.IsZero() {
		o.put(name, value)
	}
}

// addAll adds the fields of a struct under the names of their tags.
func (o *objectText) addAll(fields any) {
	v := reflect.ValueOf(fields)
	for i := range v.NumField() {
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		o.add(name, v.Field(i).Interface())
	}
}

// MarshalJSON implements json.Marshaler.
func (o objectText) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := e.Encode(m.name); err != nil {
			return nil, err
		}
		b.WriteByte(':')
		if err := e.Encode(m.value); err != nil {
			return nil, err
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

func (d *Document) writeApp(app *objectText) {
	app.put("name", d.Name)
	app.add("description", d.Description)
	app.add("aliases", d.Aliases)
}

// writeTools writes the authentication and the tools of a section.
func (p *parser) writeTools(s *Section, section *objectText) {
	if s.Auth != nil {
		section.put("auth", authText(s.Auth))
	}
	if len(s.Logins) > 0 {
		var logins objectText
		for _, name := range slices.Sorted(maps.Keys(s.Logins)) {
			logins.put(name, authText(s.Logins[name]))
		}
		section.put("logins", logins)
	}
	if s.Automation == "mcp" && len(s.Tools) == 0 {
		return // the server lists them
	}
	tools := make([]objectText, len(s.Tools))
	for i := range s.Tools {
		tools[i] = p.toolText(s, &s.Tools[i])
	}
	section.put("tools", tools)
	var events []objectText
	for i := range s.Events {
		events = append(events, p.toolText(s, &s.Events[i]))
	}
	section.add("events", events)
}

func (p *parser) toolText(s *Section, d *ToolDeclaration) objectText {
	tool := objectText{{"name", d.Name}}
	tool.add("title", d.Title)
	tool.add("description", d.Description)
	tool.add("group", d.Group)
	if d.Effect != nil {
		tool.add("effect", d.Effect.String())
	}
	if k := kindOf(p.kinds, d.Recipe); k.write != nil {
		k.write(s, d.Recipe, &tool)
	}
	tool.add("timeout", float64(d.Timeout)/float64(timeUnit(s.Platform)))
	tool.add("output_parser", d.Recipe.OutputParser)
	tool.add("parameters", d.Params)
	tool.add("returns", d.Returns)
	tool.add("undo", d.Undo)
	return tool
}

func writeDBus(s *Section, r *aai.Recipe, tool *objectText) {
	d := r.DBus
	differs := func(name, own, common string) {
		if own != common {
			tool.add(name, own)
		}
	}
	if s.Bus != "" || d.Bus != "session" {
		differs("bus", d.Bus, s.Bus)
	}
	differs("service", d.Service, s.Service)
	if d.Signal == "" {
		differs("object", d.Object, s.Object)
	} else {
		tool.add("object", d.Object)
	}
	differs("interface", d.Interface, s.Interface)
	tool.add("signal", d.Signal)
	tool.add("fields", d.Fields)
	tool.add("method", d.Method)
	tool.add("signature", d.Signature)
	tool.add("property", d.Property)
	if d.Access == "set" { // the default access is reading
		tool.add("access", d.Access)
	}
	tool.add("args", d.Args)
}

func writeScript(_ *Section, r *aai.Recipe, tool *objectText) { tool.put("script", r.Script.Script) }

func writeCOM(_ *Section, r *aai.Recipe, tool *objectText) {
	steps := make([]objectText, len(r.COM.Steps))
	for i, s := range r.COM.Steps {
		step := objectText{{"action", s.Action}}
		step.add("var", s.Var)
		step.add("object", s.Object)
		step.add("progid", s.ProgID)
		step.add("method", s.Method)
		step.add("property", s.Property)
		step.add("value", s.Value)
		step.add("args", s.Args)
		step.add("named", s.Named)
		step.add("properties", s.Properties)
		if s.Running {
			step.put("running", true)
		}
		steps[i] = step
	}
	tool.put("script", steps)
}

func writeIntent(_ *Section, r *aai.Recipe, tool *objectText) {
	tool.add("action", r.Intent.Action)
	tool.add("extras", r.Intent.Extras)
	tool.add("result_type", r.Intent.ResultType)
	tool.add("result_uri", r.Intent.ResultURI)
}

func writeURL(_ *Section, r *aai.Recipe, tool *objectText) {
	tool.add("url_template", r.URL.Template)
	tool.add("result_type", r.URL.ResultType)
	tool.add("app_group_id", r.URL.AppGroupID)
}

func writeHTTP(_ *Section, r *aai.Recipe, tool *objectText) {
	h := r.HTTP
	request := objectText{{"path", h.Path}}
	if r.Event == "" {
		request.put("method", h.Method)
	} else if h.Event != r.Event {
		request.put("event", h.Event)
	}
	request.add("query", h.Query)
	request.add("headers", h.Headers)
	request.add("public", h.Public)
	request.add("base_url", h.Server)
	if h.Auth != nil {
		request.add("login", h.Auth.Login)
	}
	if h.Send != nil {
		send := make(map[string]objectText, len(h.Send))
		for name, s := range h.Send {
			param := objectText{{"in", s.In}}
			param.add("name", s.Name)
			param.add("style", s.Style)
			param.add("explode", s.Explode)
			param.add("whole", s.Whole)
			param.add("reserved", s.Reserved)
			param.add("file", s.File)
			param.add("media", s.Media)
			send[name] = param
		}
		request.put("send", send)
	}
	tool.put("execution", request)
}

// authText returns the authentication of a web app in its written form.
func authText(a *aai.AuthRecipe) objectText {
	var form objectText
	form.add("authorization_endpoint", a.AuthorizationEndpoint)
	form.add("token_endpoint", a.TokenEndpoint)
	form.add("device_authorization_endpoint", a.DeviceEndpoint)
	form.add("revocation_endpoint", a.RevocationEndpoint)
	form.add("client_id", a.ClientID)
	form.add("scopes", a.Scopes)
	if a.PKCE != "" {
		form.put("pkce", map[string]string{"method": a.PKCE})
	}
	form.add("location", a.In)
	if a.Kind != aai.AuthBearer { // the place implies the name
		form.add("name", a.Name)
	}
	if a.Kind == aai.AuthAPIKey || a.Kind == aai.AuthBearer {
		form.put("prefix", a.Prefix)
	}
	form.add("env_var", a.EnvVar)
	also := make([]objectText, len(a.Also))
	for i, key := range a.Also {
		also[i] = objectText{{"location", key.In}, {"name", key.Name}, {"prefix", key.Prefix}}
	}
	if len(also) > 0 {
		form.put("also", also)
	}
	form.add("token_type", a.TokenType)
	form.add("expires_in", int64(a.ExpiresIn/time.Second))
	form.add("login_url", a.LoginURL)
	form.add("required_cookies", a.Cookies)
	form.add("domain", a.Domain)
	if a.ObtainURL != "" && (a.Kind == aai.AuthOAuth2 || a.Kind == aai.AuthCookie) { // these types have no member for it
		var help objectText
		help.add("short", a.Instructions)
		help.put("help_url", a.ObtainURL)
		form.put("instructions", help)
	} else {
		form.add("obtain_url", a.ObtainURL)
		form.add("instructions", a.Instructions)
	}
	return objectText{{"type", a.Kind}, {a.Kind, form}}
}
