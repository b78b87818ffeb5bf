// Package query is the language in which callers say which element they mean, and finds
// it ([Parse], [Query.Find]).
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

// A Strategy is a way to compare a query with elements. [Parse] takes the
// first seven, [Result] tells one of those after them.
type Strategy string

// The strategies that may be asked for. The zero value is Auto.
const (
	// Auto takes the text for what it looks like: //path, /pattern/i, terms such
	// as role:button, or else plain words, which the seven ways of plain words are
	// tried on, the surest first.
	Auto       Strategy = "auto"
	Exact      Strategy = "exact"      // letter for letter
	Contains   Strategy = "contains"   // part of a name or else of a value or description
	Regex      Strategy = "regex"      // RE2, as Go has it, with or without slashes around it
	ByRole     Strategy = "role"       // the word of a role
	Identifier Strategy = "identifier" // what the app's author calls it
	XPath      Strategy = "xpath"
)

// The ways in which elements were found. Those of plain words are in the order in
// which they are tried.
const (
	IdentifierExact Strategy = "identifier_exact"
	NameExact       Strategy = "name_exact"
	// NameLoose ignores case, runs of white space, the underscores of mnemonics,
	// and an ellipsis or a colon at the end.
	NameLoose     Strategy = "name_loose"
	ValueExact    Strategy = "value_exact" // the value or the description, ignoring case
	NameContains  Strategy = "name_contains"
	ValueContains Strategy = "value_contains"
	// Fuzzy means that all the words are there in any order, in name, description,
	// identifier and role, or else that a name is a slip or two away.
	Fuzzy Strategy = "fuzzy"

	TermsExact    Strategy = "terms_exact"
	TermsLoose    Strategy = "terms_loose" // as NameLoose
	TermsContains Strategy = "terms_contains"
)

const (
	// MaxLength is how many bytes a query may have.
	MaxLength = 2000
	// MaxPattern is how many bytes a regular expression in it may have.
	MaxPattern = 1000

	maxNesting   = 20   // parentheses and brackets in each other
	maxProgram   = 2000 // instructions of a compiled regular expression
	queryExample = `Examples: Save; role:button title:Save; name:"Save as" or identifier:save; /^Page \d+$/i; //dialog[@name='Open']//button. Plain words that look otherwise go in quotes.`
)

// A Query says which elements are meant. It does not change and may be used by
// many goroutines at once.
type Query struct {
	text   string // the canonical form
	words  string // the plain words in it, for what is near
	role   *roleTest
	passes []searchPass
	plain  bool // words alone, which may mean anything of an element
	// explicit means that the query says that a part of what something is called will do.
	explicit bool
	// match compares an element with the words; nil where there are none.
	match func(f *finder, i int, g matchLevel) bool
}

// Parse understands a query. These are its forms:
//
//	Save                                     plain words
//	contains:Save                            whatever has that in its name, value or description
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
//
// A path has steps after / (children) and // (all within), each a role or *, with
// predicates: a number (counted among the parent's children that fit, as XPath
// does), last(), @name='…' or !=, contains(@name,'…'), starts-with(@name,'…'),
// not(…), and, or. @name, @value, @description, @identifier and @role are there.
//
// The other strategies take the text for one thing alone, except that Exact and
// Contains know terms and quotes too.
//
// It fails with INVALID_PARAMS, which names the character where it went wrong.
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

// String returns the query in its canonical form. Parsing that with the same
// strategy makes the same query, unless it has become longer than MaxLength.
func (q *Query) String() string { return q.text }

// containing begins a query that says that a part will do.
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

// parseWords understands terms, quoted words and plain words.
func parseWords(text string, strategy Strategy) (*Query, error) {
	if words, rest, ok := cutQuoted(text); ok && rest == "" && strings.TrimSpace(words) != "" {
		return plainQuery(words, strategy), nil
	}
	if looksLikeTerms(text) {
		return parseTerms(text, strategy)
	}
	return plainQuery(text, strategy), nil
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

// cutRegex takes /pattern/ or /pattern/i apart. The slashes in the pattern must
// be escaped, so that the path of a file is no pattern.
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

// regexEnd returns where the slash is that ends the pattern at the text's
// beginning, or -1.
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

// A pattern is a regular expression as the query wrote it.
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

// compile checks and compiles a regular expression that stands at the place at in
// the query.
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

// badQuery says what is wrong with a query at a byte of it.
func badQuery(query string, at int, format string, args ...any) *aai.Error {
	at = min(max(at, 0), len(query))
	e := aai.Errorf(aai.InvalidParams, "query, character %d: "+format, append([]any{utf8.RuneCountInString(query[:at]) + 1}, args...)...)
	if rest := aai.CleanLabel(query[at:], 30); at > 0 && rest != "" {
		e.Message += ", at " + strconv.Quote(rest)
	}
	e.Hint = queryExample
	return e
}

// quote writes a text so that cutQuoted reads the same.
func quote(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`).Replace(text) + `"`
}

// cutQuoted reads a text in quotes at the beginning, and returns what is after it.
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
