// Package query implements the language in which callers identify elements, and finds these elements
// ([Parse], [Query.Find]).
package query

import (
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
)

// A Strategy is a way to compare a query with elements. [Parse] accepts the first seven. A [Result] holds Regex,
// ByRole or XPath for a query of that form, and one of the others for plain words and terms.
type Strategy string

// The strategies for Parse. The zero value is Auto.
const (
	// Auto determines the form of the text: //path, /pattern/i, terms such as role:button, or else plain
	// words, for which it tries the seven plain strategies, the most reliable first.
	Auto       Strategy = "auto"
	Exact      Strategy = "exact"      // letter for letter
	Contains   Strategy = "contains"   // part of a name or else of a value or description
	Regex      Strategy = "regex"      // RE2 as in Go, with or without slashes around it
	ByRole     Strategy = "role"       // the name of a role
	Identifier Strategy = "identifier" // the author's identifier
	XPath      Strategy = "xpath"
)

// The strategies in a Result. Those of plain words are in the order in which they are tried.
const (
	IdentifierExact Strategy = "identifier_exact" // the author's identifier equals the words letter for letter
	NameExact       Strategy = "name_exact"       // the name equals the words letter for letter
	// NameLoose ignores case, runs of white space, the underscores of mnemonics, and an ellipsis or a colon
	// at the end.
	NameLoose Strategy = "name_loose"
	// ValueExact means that the value or the description equals the words: letter for letter for the strategy
	// Exact, otherwise as loosely as NameLoose.
	ValueExact    Strategy = "value_exact"
	NameContains  Strategy = "name_contains"  // the name contains the words, compared as for NameLoose
	ValueContains Strategy = "value_contains" // as NameContains, for the value or the description
	// Fuzzy means that the element has all the words in any order, in name, description, identifier and role. Or its
	// name differs from them by up to three typos, fewer for short words.
	Fuzzy Strategy = "fuzzy"

	TermsExact    Strategy = "terms_exact"    // all texts of the terms match letter for letter
	TermsLoose    Strategy = "terms_loose"    // all texts of the terms match as for NameLoose
	TermsContains Strategy = "terms_contains" // the attributes contain the texts of the terms
)

// isPartial reports whether the strategy finds elements with more or other words than the query.
func (s Strategy) isPartial() bool {
	return s == NameContains || s == ValueContains || s == TermsContains || s == Fuzzy
}

const (
	// MaxLength is the maximum length of a query in bytes.
	MaxLength = 2000
	// MaxPattern is the maximum length of a regular expression in bytes.
	MaxPattern = 1000

	maxNesting   = 20   // nested parentheses and brackets
	maxProgram   = 2000 // instructions of a compiled regular expression
	queryExample = `Examples: Save; role:button title:Save; name:"Save as" or identifier:save; /^Page \d+$/i; //dialog[@name='Open']//button. Plain words that look otherwise go in quotes.`
)

// A Query identifies elements. It is immutable and safe for concurrent use.
type Query struct {
	text   string // the canonical form
	words  string // the plain words in it, for suggestions
	role   *roleTest
	passes []searchPass
	plain  bool // only plain words, which any attribute may match
	// explicit means that the query explicitly allows a part of a name.
	explicit bool
	// match compares an element with the words; nil without words.
	match func(f *finder, i int, g matchLevel) bool
}

// Parse parses a query. These are its forms:
//
//	Save                                     plain words
//	contains:Save                            elements with that in the name, value or description
//	"role:button"                            plain words that look like another form
//	role:button title:Save                   both; also with and, &&
//	(role:link or role:button) and name:"Go on"
//	button:Save                              short for role:button name:Save
//	name:/^Page \d+$/i                       a regular expression (RE2)
//	/^Page \d+$/i                            one for the name, or else the value or description
//	//dialog[@name='Open']//list/option[3]   a part of XPath 1.0
//
// The keys are role, name (also title, label), value, description and identifier
// (also id). A bare value reaches to the next term, to an operator before a term,
// or to the end. In quotes, \" \' \\ \n and \t are escapes. Roles are ARIA's, or
// those of macOS with or without AX.
// A path has steps after / (children) and // (all descendants), each a role or *, with predicates: a number
// (counted among the parent's children that fit, as in XPath), last(), @name='…' or !=,
// contains(@name,'…'), starts-with(@name,'…'), not(…), and, or. The attributes are @name, @value,
// @description, @identifier and @role.
//
// The other strategies accept only their own form, except that Exact and Contains also parse terms and
// quotes.
//
// Parse fails with INVALID_PARAMS and names the position of the first wrong character.
func Parse(text string, strategy Strategy) (*Query, error) {
	switch {
	case len(text) > MaxLength:
		return nil, badQuery(text[:MaxLength], 0, "the query has %d bytes; expected at most %d", len(text), MaxLength)
	case !utf8.ValidString(text):
		return nil, badQuery(strings.ToValidUTF8(text, "?"), 0, "the query is not UTF-8")
	}
	text = strings.TrimSpace(text)
	if text == "" {
		return nil, badQuery("", 0, "the query is empty; expected words, terms or a path")
	}
	switch strategy {
	case Auto, "":
		return parseAuto(text)
	case Exact, Contains:
		return parseWords(text, strategy)
	case Regex:
		return regexQuery(text, Regex)
	case ByRole:
		return roleQuery(text)
	case Identifier:
		return &Query{text: text, words: text, passes: identifierPasses(text)}, nil
	case XPath:
		return parsePath(text)
	}
	e := badQuery("", 0, "there is no strategy %s; expected auto, exact, contains, regex, role, identifier or xpath",
		desktop.Quote(string(strategy), 40))
	e.Hint = "Leave the strategy out: auto tries them all."
	return nil, e
}

// String returns the query in its canonical form. Parsing this with the same strategy results in the same
// query, unless it has become longer than MaxLength.
func (q *Query) String() string { return q.text }

// HasWords reports whether the query compares words of elements, not only their roles.
func (q *Query) HasWords() bool { return q.words != "" || q.role == nil }

// containing is the prefix of a query that allows a part of a name.
const containing = "contains:"

func parseAuto(text string) (*Query, error) {
	if looksLikePart(text) {
		q, err := parseWords(strings.TrimSpace(text[len(containing):]), Contains)
		if err != nil {
			return nil, err
		}
		q.text = containing + q.text
		return q, nil
	}
	if looksLikePath(text) {
		return parsePath(text)
	}
	if _, _, ok := cutRegex(text); ok {
		return regexQuery(text, Auto)
	}
	return parseWords(text, Auto)
}

// parseWords parses terms, quoted words and plain words.
func parseWords(text string, strategy Strategy) (*Query, error) {
	if words, rest, ok := cutQuoted(text); ok && rest == "" && strings.TrimSpace(words) != "" {
		return plainQuery(words, strategy), nil
	}
	if looksLikeTerms(text) {
		return parseTerms(text, strategy)
	}
	q := plainQuery(text, strategy)
	if role, ok := lookUpRole(text); ok && strategy == Auto { // the last resort, for reading alone; see allowsAction
		q.passes = append(q.passes, termPasses(&term{attribute: roleAttribute, role: role}, ByRole)...)
	}
	return q, nil
}

func plainQuery(words string, strategy Strategy) *Query {
	text := words
	if _, rest, quoted := cutQuoted(text); strings.TrimSpace(text) != text || quoted && rest == "" || looksLikeTerms(text) ||
		strategy == Auto && (looksLikePath(text) || looksLikeRegex(text) || looksLikePart(text)) {
		text = quote(words)
	}
	return &Query{text: text, words: words, passes: plainPasses(words, strategy), plain: true, explicit: strategy == Contains, match: plainMatcher(newSearchText(words))}
}

func looksLikePart(text string) bool {
	return len(text) > len(containing) && strings.EqualFold(text[:len(containing)], containing)
}

func looksLikePath(text string) bool {
	return strings.HasPrefix(strings.TrimLeft(text, "( "), "//")
}

func looksLikeRegex(text string) bool {
	_, _, ok := cutRegex(text)
	return ok
}

// cutRegex splits /pattern/ or /pattern/i. Slashes in the pattern must be escaped, so that a file path is
// not a pattern.
func cutRegex(text string) (pattern string, anyCase, ok bool) {
	end := regexEnd(text)
	if end < 0 {
		return "", false, false
	}
	switch text[end:] {
	case "/", "/i":
		return text[1:end], text[end:] == "/i", true
	}
	return "", false, false
}

// regexEnd returns the index of the slash that ends the pattern at the beginning of the text, or -1.
func regexEnd(text string) int {
	if !strings.HasPrefix(text, "/") || strings.HasPrefix(text, "//") {
		return -1
	}
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '/':
			return i
		}
	}
	return -1
}

// A pattern is a regular expression as written in the query.
type pattern struct {
	text    string
	anyCase bool
	re      *regexp.Regexp
}

func (p *pattern) String() string {
	if p.anyCase {
		return "/" + p.text + "/i"
	}
	return "/" + p.text + "/"
}

// compile checks and compiles a regular expression at offset at of the query.
func compile(query string, at int, text string, anyCase bool) (*pattern, error) {
	if len(text) > MaxPattern {
		return nil, badQuery(query, at, "the regular expression has %d bytes; expected at most %d", len(text), MaxPattern)
	}
	flags := syntax.Perl
	source := text
	if anyCase {
		flags |= syntax.FoldCase
		source = "(?i)" + text
	}
	tree, err := syntax.Parse(text, flags)
	if err != nil {
		return nil, badQuery(query, at, "%s; expected a regular expression that Go knows (RE2: no look-around, no back-references)",
			aai.CleanLabel(err.Error(), 200))
	}
	program, err := syntax.Compile(tree.Simplify())
	if err != nil || len(program.Inst) > maxProgram {
		return nil, badQuery(query, at, "the regular expression is too large; expected fewer or smaller repetitions")
	}
	re, err := regexp.Compile(source)
	if err != nil {
		return nil, badQuery(query, at, "%s", aai.CleanLabel(err.Error(), 200))
	}
	return &pattern{text, anyCase, re}, nil
}

func regexQuery(text string, strategy Strategy) (*Query, error) {
	source, anyCase, slashes := cutRegex(text)
	if !slashes {
		source = text
	}
	p, err := compile(text, 0, source, anyCase)
	if err != nil {
		return nil, err
	}
	q := &Query{text: p.String(), words: source, passes: regexPasses(p.re)}
	if strategy == Regex && !anyCase && strings.TrimSpace(source) == source {
		q.text = source
	}
	return q, nil
}

func roleQuery(text string) (*Query, error) {
	at := 0
	if len(text) > 5 && strings.EqualFold(text[:5], "role:") {
		at = 5
	}
	role, ok := lookUpRole(text[at:])
	if !ok {
		return nil, unknownRole(text, at, text[at:])
	}
	return &Query{text: role.word, role: role, passes: termPasses(&term{attribute: roleAttribute, role: role}, ByRole)}, nil
}

func unknownRole(query string, at int, word string) *aai.Error {
	e := badQuery(query, at, "there is no role %s; expected one such as button, textbox, menuitem or AXButton",
		desktop.Quote(word, 40))
	e.Candidates = nearRoles(word)
	return e
}

// badQuery returns the error for a query that is wrong at a byte offset.
func badQuery(query string, at int, format string, args ...any) *aai.Error {
	at = min(max(at, 0), len(query))
	e := aai.Errorf(aai.InvalidParams, "query, character %d: "+format, append([]any{utf8.RuneCountInString(query[:at]) + 1}, args...)...)
	if rest := aai.CleanLabel(query[at:], 30); at > 0 && rest != "" {
		e.Message += ", at " + strconv.Quote(rest)
	}
	e.Hint = queryExample
	return e
}

// quote quotes a text so that cutQuoted returns it unchanged.
func quote(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`).Replace(text) + `"`
}

// cutQuoted reads a quoted text at the beginning, and returns the rest after it.
func cutQuoted(text string) (inside, rest string, ok bool) {
	if text == "" || text[0] != '"' && text[0] != '\'' {
		return "", text, false
	}
	var b strings.Builder
	for i := 1; i < len(text); i++ {
		switch {
		case text[i] == text[0]:
			return b.String(), text[i+1:], true
		case text[i] == '\\' && i+1 < len(text) && strings.IndexByte(`\"'nt`, text[i+1]) >= 0:
			i++
			switch text[i] {
			case 'n':
				b.WriteByte('\n')
			case 't':
				b.WriteByte('\t')
			default:
				b.WriteByte(text[i])
			}
		default:
			b.WriteByte(text[i])
		}
	}
	return "", text, false
}
