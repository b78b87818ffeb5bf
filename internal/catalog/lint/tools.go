package lint

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/answer"
	"github.com/gybob/aai-gateway/internal/catalog"
	"github.com/gybob/aai-gateway/internal/netguard"
	"github.com/gybob/aai-gateway/internal/sanitize"
)

// A section is a list of tools in the document with its platform.
type section struct {
	platform string
	tools    *value
}

// sections returns the lists of tools of either dialect, in the order of the file.
func (d *document) sections() []section {
	var found []section
	for platform := range d.root.Member("platforms").Items() {
		if tools := platform.Member("tools"); tools != nil {
			found = append(found, section{platform.Name, tools})
		}
	}
	if tools := d.root.Member("tools"); tools != nil && len(found) == 0 {
		found = append(found, section{"", tools})
	}
	return found
}

// identity checks the app's own description.
func (c *checker) identity(app *aai.App) {
	version := c.doc.root.Member("version")
	if version == nil {
		c.find(answer.SeverityWarning, "version", "version", "missing",
			"Give the descriptor a version such as \"1.0.0\": an update can then report its changes.")
	} else if _, ok := parseVersion(version.Text); !ok {
		c.find(answer.SeverityWarning, "version", "version",
			fmt.Sprintf("%s is no semantic version", sanitize.Quote(version.Text, 60)),
			"Write MAJOR.MINOR.PATCH, such as \"1.0.0\".")
	}
	if why := sanitize.ConfusableReason(app.Name); why != "" {
		c.find(answer.SeverityWarning, "disguise", c.namePath(), "the name "+why, "Write it in the letters of one script.")
	}
	if len(app.Site.Hosts) > 0 && app.Site.BaseURL != "" {
		home := hostOf(app.Site.BaseURL)
		others := slices.DeleteFunc(slices.Clone(app.Site.Hosts), func(host string) bool { return catalog.SameSite(home, host) })
		if len(others) > 0 {
			c.find(answer.SeverityHint, "hosts", "auth", "logging in goes to another site than the calls: "+strings.Join(others, ", "),
				"People are shown each site before anything is sent there; use one, if you can.")
		}
	}
	if a := app.Site.Auth; a != nil {
		if a.In == "query" {
			c.find(answer.SeverityWarning, "auth", "auth", "the secret goes into the address, where logs and proxies keep it",
				"Send it in a header.")
		}
		if a.EnvVar != "" && !strings.HasPrefix(a.EnvVar, "AAI_") {
			c.find(answer.SeverityWarning, "auth", "auth",
				"reads the variable "+a.EnvVar+", which may hold a secret of another program",
				"Name one of the app's own, such as AAI_MYAPP_API_KEY.")
		}
		if a.Kind == aai.AuthOAuth2 && a.PKCE == "" {
			c.find(answer.SeverityHint, "auth", "auth", "does not declare that the server knows PKCE",
				"Add \"pkce\": {\"method\": \"S256\"}.")
		}
	}
}

func (c *checker) namePath() string {
	if c.doc.root.Member("app") != nil {
		return "app.name"
	}
	return "name"
}

// section checks every tool of one platform.
func (c *checker) section(s section, d *catalog.Descriptor) {
	hasExample := operations(d.App)
	var recipes []*aai.Recipe
	for _, r := range d.Recipes {
		if r.Platform == d.App.Platform {
			recipes = append(recipes, r)
		}
	}
	c.report.Tools += len(d.App.Tools)
	if n := len(d.App.Tools); n > 40 {
		c.find(answer.SeverityHint, "many-tools", s.tools.Mark, aai.Count(n, "tool")+"; models choose best among few",
			"Join those that differ in a parameter only.")
	}
	same, values := make(map[string]string), slices.Collect(s.tools.Items())
	for i, tool := range d.App.Tools {
		if i >= len(values) || i >= len(recipes) {
			return
		}
		v := values[i]
		t := &toolCheck{checker: c, tool: tool, recipe: recipes[i], value: v}
		t.name()
		t.effect()
		t.schemas()
		t.parameters()
		t.request()
		t.comSteps()
		if first := same[tool.Description]; first != "" && tool.Description != "" {
			c.find(answer.SeverityWarning, "description", catalog.JoinPath(v.Mark, "description", -1), "is the same as "+first,
				"Describe the difference: agents choose by it.")
		}
		same[tool.Description] = v.Mark
		if has, known := hasExample[tool.Name]; known && !has {
			c.find(answer.SeverityHint, "example", v.Mark, "the guide can show no example of a call",
				"Give \"examples\" or \"default\" to the required parameters whose values it cannot guess.")
		}
	}
}

// toolCheck checks one tool.
type toolCheck struct {
	*checker
	tool   *aai.Tool
	recipe *aai.Recipe
	value  *value
}

func (t *toolCheck) at(names ...string) string {
	path := t.value.Mark
	for _, name := range names {
		path = catalog.JoinPath(path, name, -1)
	}
	return path
}

// name checks whether the name describes the tool to an agent.
func (t *toolCheck) name() {
	name := t.tool.Name
	vague := []string{"do", "run", "exec", "execute", "action", "call", "test", "tool", "function", "method", "process",
		"handle", "main", "misc", "foo", "bar"}
	bare := strings.TrimRight(strings.ToLower(name), "0123456789_")
	switch {
	case len(name) < 2 || slices.Contains(vague, bare):
		t.find(answer.SeverityHint, "name", t.at("name"), fmt.Sprintf("%q does not say what the tool does", name),
			"Name it by verb and object, such as \"send_email\".")
	case name != strings.ToLower(name) || strings.ContainsAny(name, "-."):
		t.find(answer.SeverityHint, "name", t.at("name"), fmt.Sprintf("%q is not in snake_case", name),
			"The protocol's tools are named like \"send_email\".")
	}
	if d := t.tool.Description; d != "" && len(d) < 10 {
		t.find(answer.SeverityHint, "description", t.at("description"), "is very short",
			"Describe the tool's action, its object and its result.")
	}
}

// effect checks the effect that people will see.
func (t *toolCheck) effect() {
	claimed := member(t.value, "effect", "annotations")
	if claimed == nil && catalog.InherentEffect(t.recipe) == aai.Destroys {
		t.find(answer.SeverityHint, "effect", t.value.Mark,
			"does not declare its effect, so people are warned that it may delete or send",
			"Add \"effect\": \"reads\", \"changes\" or \"destroys\".")
	}
	where := t.value
	if claimed != nil {
		where = claimed
	}
	words := strings.FieldsFunc(strings.ToLower(t.tool.Name),
		func(r rune) bool { return r == '_' || r == '-' || r == '.' })
	for _, word := range words {
		if slices.Contains([]string{"delete", "remove", "send", "pay", "erase", "destroy", "purge", "wipe", "kill",
			"uninstall", "purchase"}, word) && t.tool.Effect == aai.Reads {
			t.find(answer.SeverityWarning, "effect", where.Mark, fmt.Sprintf("declares that it reads, but is named %q", t.tool.Name),
				"Declare \"destroys\", or rename it.")
			return
		}
	}
}

// schemas checks the schemas of arguments and result.
func (t *toolCheck) schemas() {
	t.compile(t.at("parameters"), t.tool.Params)
	t.compile(t.at("returns"), t.tool.Returns)
	if t.value.Member("returns") == nil {
		t.find(answer.SeverityHint, "returns", t.value.Mark, "does not describe its result",
			"Add \"returns\", a JSON Schema of the result.")
	}
	params := t.value.Member("parameters")
	properties := params.Member("properties")
	for required := range params.Member("required").Items() {
		if properties.Member(required.Text) == nil {
			t.find(answer.SeverityWarning, "parameters", required.Mark,
				fmt.Sprintf("%s is required, but not among the properties", sanitize.Quote(required.Text, 60)),
				"Describe it in \"properties\".")
		}
	}
	for p := range properties.Items() {
		if p.Kind == object && p.Member("description") == nil && p.Member("$ref") == nil {
			t.find(answer.SeverityHint, "description", p.Mark, "has no description", "Describe its meaning, its form and its default.")
		}
		if !plain(p.Name) {
			t.find(answer.SeverityWarning, "name", p.Mark, "the parameter's name has characters that models get wrong",
				"Use letters, digits and \"_\".")
		}
	}
}

func plain(name string) bool {
	for _, r := range name {
		if r >= 0x80 || !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.$", r) {
			return false
		}
	}
	return name != ""
}

// parameters reports parameters that the recipe never uses.
func (t *toolCheck) parameters() {
	templates, alone := catalog.PlaceholderTexts(t.recipe)
	if !alone {
		return
	}
	written := strings.Join(templates, "\n")
	for _, name := range t.recipe.Params {
		if !strings.Contains(written, "${"+name+"}") {
			t.find(answer.SeverityWarning, "unused-parameter", t.at("parameters", "properties", name),
				"is never used: no template has ${"+aai.CleanLabel(name, 60)+"}", "Use it or take it out.")
		}
	}
}

// request checks that an HTTP request can carry the parameters.
func (t *toolCheck) request() {
	h := t.recipe.HTTP
	if h == nil || h.Method != http.MethodGet && h.Method != http.MethodHead && h.Method != http.MethodDelete {
		return
	}
	for p := range t.value.Member("parameters").Member("properties").Items() {
		if _, told := h.Send[p.Name]; told {
			continue // the author has specified its encoding
		}
		kind := p.Member("type")
		bodyLike := slices.Contains([]string{"body", "payload", "data", "json", "content"}, strings.ToLower(p.Name))
		if bodyLike || kind != nil && kind.Text == "object" {
			t.find(answer.SeverityWarning, "query", p.Mark, fmt.Sprintf("goes into the address, since %s has no body", h.Method),
				"Use POST, PUT or PATCH, or parameters that are single values.")
		}
	}
}

// urlOrigin returns the origin of a URL.
func urlOrigin(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return netguard.Origin(u)
}

func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Host
}

// comSteps checks the steps of a tool on COM objects.
func (t *toolCheck) comSteps() {
	if t.recipe.COM == nil {
		return
	}
	values := slices.Collect(t.value.Member("script").Items())
	for i, s := range t.recipe.COM.Steps {
		if i >= len(values) {
			return
		}
		if s.Action == "set" && t.tool.Effect == aai.Reads {
			t.find(answer.SeverityWarning, "effect", values[i].Mark, fmt.Sprintf("sets %s, but the tool declares that it reads", aai.CleanLabel(s.Property, 60)),
				"Declare \"changes\" or \"destroys\".")
		}
		if slices.Contains(t.recipe.Params, s.Var) {
			t.find(answer.SeverityWarning, "variable", values[i].Mark, fmt.Sprintf("has a variable %q, but \"${%s}\" is the parameter of this name", s.Var, s.Var),
				"Give the variable another name.")
		}
	}
}
