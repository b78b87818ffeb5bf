package catalog

import (
	"slices"
	"strings"

	"github.com/gybob/aai-gateway"
)

// intentToolReader returns a reader of tools that send Android intents.
func (p *parser) intentToolReader(s *section, m *members) toolReader {
	pkg := m.must(`an Android app needs its package, such as "com.example.mail"`, "package")
	if pkg != "" && (!validID(pkg) || strings.Contains(pkg, "-")) {
		p.fault(m.pathOf("package"), `is %q; expected a package name such as "com.example.mail"`,
			aai.CleanLabel(pkg, maxName))
	}
	s.Package = pkg
	return func(tool *members, r *aai.Recipe) {
		in := &aai.IntentRecipe{Package: pkg}
		in.Action = tool.must(`an Android tool needs an intent action such as "com.example.MAIL_SEND"`, "action")
		in.Extras = tool.strings("extras", " of intent extras")
		for _, name := range sortedNames(in.Extras) {
			p.placeholders(joinPath(tool.pathOf("extras"), name, -1), in.Extras[name], r)
		}
		in.ResultType = tool.word("result_type", "content_provider", "broadcast")
		in.ResultURI = tool.text("result_uri")
		if in.ResultType == "content_provider" && in.ResultURI == "" {
			p.fault(tool.pathOf("result_uri"), `missing; a result by content_provider needs its content:// URI`)
		}
		if in.ResultURI != "" && !strings.HasPrefix(in.ResultURI, "content://") {
			p.fault(tool.pathOf("result_uri"), "is %q; expected a content:// URI", aai.CleanLabel(in.ResultURI, maxName))
		}
		r.Intent = in
	}
}

func intentTexts(r *aai.Recipe) []string {
	var texts []string
	for _, name := range sortedNames(r.Intent.Extras) {
		texts = append(texts, r.Intent.Extras[name])
	}
	return texts
}

func sortedNames(values map[string]string) []string {
	names := make([]string, 0, len(values))
	for name := range values {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// urlToolReader returns a reader of tools that open iOS URLs.
func (p *parser) urlToolReader(s *section, m *members) toolReader {
	scheme := m.must(`an iOS app needs its URL scheme, such as "mailapp"`, "scheme")
	p.scheme(m.pathOf("scheme"), scheme)
	s.Scheme = scheme
	return func(tool *members, r *aai.Recipe) {
		u := &aai.URLRecipe{Scheme: scheme}
		u.Template = tool.must(`an iOS tool needs a URL such as "mailapp://send?to=${to}"`, "url_template")
		if scheme != "" && u.Template != "" && !strings.HasPrefix(u.Template, scheme+":") {
			p.fault(tool.pathOf("url_template"), "is not of the app's scheme; expected it to begin with %q", scheme+":")
		}
		p.placeholders(tool.pathOf("url_template"), u.Template, r)
		u.ResultType = tool.word("result_type", "app_group", "clipboard")
		u.AppGroupID = tool.text("app_group_id")
		if u.ResultType == "app_group" && u.AppGroupID == "" {
			p.fault(tool.pathOf("app_group_id"), "missing; a result by app_group needs it")
		}
		r.URL = u
	}
}

// scheme checks a URL scheme by RFC 3986, section 3.1, and rejects schemes that do not belong to
// an app.
func (p *parser) scheme(path, scheme string) {
	if scheme == "" {
		return
	}
	valid := letter(scheme[0]) && len(scheme) <= maxName
	for i := range len(scheme) {
		c := scheme[i]
		valid = valid && (letter(c) || digit(c) || c == '+' || c == '-' || c == '.')
	}
	if !valid {
		p.fault(path, `is %q; expected a URL scheme such as "mailapp"`, aai.CleanLabel(scheme, maxName))
		return
	}
	if slices.Contains([]string{"about", "blob", "data", "file", "javascript", "vbscript"}, strings.ToLower(scheme)) {
		p.fault(path, "is %q, which is not an app's own; expected the app's URL scheme", scheme)
	}
}
