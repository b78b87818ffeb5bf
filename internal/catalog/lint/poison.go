package lint

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/answer"
	"github.com/gybob/aai-gateway/internal/catalog"
	"github.com/gybob/aai-gateway/internal/sanitize"
)

// A pattern matches words that are typical of attacks on agents.
type pattern struct {
	words   *regexp.Regexp
	meaning string
}

// patterns returns the common words of published attacks by tool descriptions. They only find
// careless attacks: the actual defence is that such text is quoted, and that a person is asked.
// They match lower-case text in which white space and "_" are single spaces.
func patterns() []pattern {
	var all []pattern
	for _, p := range [][2]string{
		{`\b(ignore|disregard|forget|override|bypass)\b.{0,40}\b(previous|prior|above|earlier|all|any|system|every\w*|other)\b.{0,40}\b(instructions?|prompts?|rules?|messages?|told|guidelines?|context|warnings?)\b`, "tells the model to forget its instructions"},
		{`\bnew instructions?\b|\byou are now\b|\byou now work\b|\byou have no rules\b|\bmaintenance mode\b`,
			"gives the model new instructions"},
		{`\b(do not|don't|never|must not)\b.{0,20}\b(tell|inform|mention|notify|show|reveal|warn|alert)\b|\bwithout (asking|telling|informing|notifying|confirm\w*)\b`, "asks to keep something from the user"},
		{`<\s*/?\s*(important|system|instructions?|secret|admin|assistant|user|tool)\b[^>]*>|<\|[a-z ]+\|>|\[/?inst\]`,
			"has the marks of a prompt"},
		{`(^|[.\n] ?)(assistant|system|user|human):`, "pretends to be a turn of the conversation"},
		{`\b(before|instead of) (using |calling )?any other\b|\byou must (always |first )?(call|use|read|run|pass)\b|\balways (use|call|prefer) this\b|\b(the )?only (safe|trusted|approved)\b|\buser trusts\b`, "claims to come before other tools"},
		{`\bwhen(ever)? \S+( \S+){0,3} is called\b|\b(call|use) the tool\b|\bmcp (env|serve|token|trust) [a-z]|\b(consent (grant|revoke)|aai[ :]exec|web[ :]discover|consent list)\b`, "speaks of another tool"},
		{`\b(conversation|chat) (history|log)\b|\b(whole|full|entire) (conversation|context)\b|\bsystem (prompt|messages?)\b|\bchain of thought\b|\bcontents of your context\b`, "asks for the conversation"},
		{`/\.(ssh|aws|azure|gnupg|kube|docker|cursor|claude|netrc|npmrc|pypirc|pgpass|git-credentials|password-store|mozilla|bash history|zsh history)\b|/etc/(passwd|shadow|sudoers)|\bid (rsa|ed25519|ecdsa)\b|(^|[ '"(/])\.env\b|\bmcp\.json\b|\bappdata\\|\blogin data\b|\bcookies file\b`, "names a file with secrets"},
		{`\b(paste|type|enter|send|put)\b.{0,30}\b(passwords?|secrets?|api keys?|tokens?)\b.{0,30}\b(chat|here|conversation|field)\b`, "asks for a secret"},
		{`!\[|\]\s*\(|<!--|<img\b|<a\b|javascript:|data:text/|\b(curl|wget)\b[^|]*\|\s*(ba|z)?sh\b|</[a-z]+>`,
			"has a link, a picture or a command that could carry data away"},
		{`\b(verified|tools?( call)?s? (are|is)) .{0,20}\b(safe|approved|trusted)\b|\bapproved by the\b`,
			"claims that somebody approved it"},
		{`\beffect: (reads|changes|may)\b|\breturns:|## ?available operations`, "imitates the gateway's own words"},
	} {
		all = append(all, pattern{regexp.MustCompile(p[0]), p[1]})
	}
	return all
}

// maxScanned limits the checked part of a text, in bytes: far more than is ever displayed.
const maxScanned = 8 << 10

// scanPrefix returns the checked part of a text.
func scanPrefix(words string) string {
	return strings.ToValidUTF8(words[:min(len(words), maxScanned)], "")
}

// isDigest reports whether a value is the digest of a generated descriptor's source.
func isDigest(v *value) bool { return v.Path() == "generated.digest" }

// checkTexts checks every text of the document, including member names, except scripts and
// templates.
func (c *checker) checkTexts() {
	known := patterns()
	blob := regexp.MustCompile(`[A-Za-z0-9+/_-]{60,}={0,2}|\b[0-9A-Fa-f]{40,}\b`)
	variable := regexp.MustCompile(`\b[A-Z][A-Z0-9]*(_[A-Z0-9]+)*_(API_KEY|KEY|SECRET|TOKEN|PASSWORD|CREDENTIALS?)\b`)
	// These are executed and not read by a model: a program may have any name, and the vault
	// holds the values of an MCP server's variables.
	unsaid := []string{"script", "url_template", "urlTemplate", "command", "args", "env"}
	var visit func(v *value, script, schema bool)
	visit = func(v *value, script, schema bool) {
		script = script || !schema && slices.Contains(unsaid, v.Name) // a parameter may have such a name
		schema = schema || v.Name == "parameters" || v.Name == "returns"
		c.checkInvisible(v.Mark, v.Name)
		if v.Kind == text {
			c.checkInvisible(v.Mark, v.Text)
		}
		if !script {
			c.checkPoison(v, known)
		}
		if v.Kind == text && !script {
			c.checkMarkup(v)
			if blob.MatchString(scanPrefix(v.Text)) && !strings.Contains(v.Text, "://") && !isDigest(v) {
				c.find(answer.SeverityWarning, "poisoning", v.Mark, "has a long run of unreadable letters", "Write words.")
			}
			if name := variable.FindString(scanPrefix(v.Text)); name != "" && v.Name != "env_var" && v.Name != "envVar" {
				c.find(answer.SeverityWarning, "poisoning", v.Mark,
					"names the variable "+sanitize.Quote(name, 60)+", which holds a secret", "Secrets belong into \"auth\".")
			}
		}
		for item := range v.Items() {
			visit(item, script, schema)
		}
	}
	visit(c.doc.root, false, false)
}

// checkPoison checks for words of known attacks, also with invisible characters removed.
func (c *checker) checkPoison(v *value, known []pattern) {
	for _, words := range []string{scanPrefix(v.Name), scanPrefix(v.Text)} {
		if len(words) < len("a:b") || v.Kind != text && words != v.Name {
			continue
		}
		shown := strings.ToLower(aai.CleanText(words, len(words)))
		folded := strings.Join(strings.FieldsFunc(shown, func(r rune) bool { return unicode.IsSpace(r) || r == '_' }), " ")
		dashed := strings.ReplaceAll(folded, "-", " ")
		for _, p := range known {
			if found := p.words.FindString(folded); found != "" || p.words.MatchString(dashed) {
				c.find(answer.SeverityWarning, "poisoning", v.Mark, p.meaning+": "+sanitize.Quote(words, 80),
					"Describe what the tool does, without instructions to the model.")
			}
		}
	}
}

// SuspiciousTextDetector returns a function that reports whether Check would warn of a text: it
// resembles an attack on agents, or has invisible characters. It is safe for concurrent use.
func SuspiciousTextDetector() func(words string) bool {
	known := patterns()
	return func(words string) bool {
		c := &checker{doc: readDocument([]byte("{}")), report: &answer.LintReport{}, perRule: make(map[string]int)}
		c.checkPoison(&value{Kind: text, Text: words}, known)
		c.checkInvisible("", words)
		return len(c.report.Findings) > 0
	}
}

// checkInvisible reports invisible characters in a text.
func (c *checker) checkInvisible(path, words string) {
	if words = scanPrefix(words); aai.CleanText(words, len(words)) == words {
		return
	}
	const mend = "Take it out: it is dropped, and looks like an attempt to hide something."
	previous, marks := rune(0), 0
	for _, r := range words {
		joins := (r == '\ufe0f' || r == '\u200d') && previous > 0x2100 // within an emoji
		hidden := strings.TrimSpace(aai.CleanText(string(r), len(string(r)))) == "" && !unicode.IsSpace(r)
		if hidden && !joins {
			c.find(answer.SeverityWarning, "unseen", path, fmt.Sprintf("has the character U+%04X, which does not show", r), mend)
			return
		}
		if marks++; !unicode.Is(unicode.Mn, r) {
			marks = 0
		}
		if marks > 8 {
			c.find(answer.SeverityWarning, "unseen", path, "has more combining marks in a row than any language", mend)
			return
		}
		previous = r
	}
}

// checkMarkup reports parts of a text that will not be shown as written.
func (c *checker) checkMarkup(v *value) {
	inSchema := strings.Contains(v.Mark, ".parameters.") || strings.Contains(v.Mark, ".returns.")
	cut := map[string]int{"description": 300, "title": 60, "name": 60}
	if inSchema {
		cut = map[string]int{"description": 200}
	}
	if most := cut[v.Name]; most > 0 && len(v.Text) > most {
		c.find(answer.SeverityWarning, "cut", v.Mark, fmt.Sprintf("is of %d bytes, and cut to %d", len(v.Text), most), "Shorten it.")
	}
	if inSchema && v.Name != "description" {
		return // a value, which is shown as JSON
	}
	words := strings.TrimSpace(v.Text)
	switch {
	case strings.Contains(words, "```"):
		c.find(answer.SeverityWarning, "markup", v.Mark, "has the marks of a block of code, which are shown as \"'\"",
			"Write plain words.")
	case strings.HasSuffix(words, `\`):
		c.find(answer.SeverityWarning, "markup", v.Mark, "ends in a backslash, which would hide a quotation mark after it",
			"End it otherwise.")
	case strings.ContainsAny(words, "【】"):
		c.find(answer.SeverityWarning, "markup", v.Mark, "has the brackets that set off an app's name in the list of tools",
			"Use others.")
	}
}

// checkSecrets reports text that resembles a secret anywhere in the document.
func (c *checker) checkSecrets() {
	known := regexp.MustCompile(`\b(AKIA|ASIA)[0-9A-Z]{16}\b|\bgh[pousr]_[A-Za-z0-9]{30,}|\bgithub_pat_[A-Za-z0-9_]{30,}|\bsk-[A-Za-z0-9_-]{20,}|\bsk_live_[A-Za-z0-9]{16,}|\bxox[abprs]-[A-Za-z0-9-]{10,}|\bAIza[0-9A-Za-z_-]{35}|-----BEGIN [A-Z ]*PRIVATE KEY-----|\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.`)
	header := regexp.MustCompile(`(?i)(key|token|secret|auth|password|session)`)
	c.doc.root.Walk(func(v *value) {
		if v.Kind != text {
			return
		}
		if known.MatchString(scanPrefix(v.Text)) {
			c.find(answer.SeverityError, "secret", v.Mark, "has a value in the form of a secret",
				"Take it out, and revoke it at its issuer: a descriptor is public.")
		}
		if parent, name, ok := cutLast(v); ok &&
			(parent == "headers" || parent == "default_headers" || parent == "defaultHeaders") && header.MatchString(name) {
			c.find(answer.SeverityWarning, "secret", v.Mark, "is a header that usually has a secret",
				"Declare it in \"auth\", and people give their own.")
		}
	})
}

// cutLast returns the names of a value's parent member and of the value.
func cutLast(v *value) (parent, name string, ok bool) {
	around, ok := strings.CutSuffix(v.Mark, strings.TrimPrefix(catalog.JoinPath("x", v.Name, -1), "x"))
	if !ok {
		return "", "", false
	}
	return around[strings.LastIndex(around, ".")+1:], v.Name, true
}
