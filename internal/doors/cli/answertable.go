package cli

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/schema/jsontree"
)

// A node is a part of an answer, or of the schema that promises it.
type jsonNode = jsontree.Node[struct{}]

// nodeOf reads a value, whatever Go types a tool made it of.
func nodeOf(value any) (*jsonNode, error) {
	raw, err := json.Marshal(value)
	if err == nil {
		root, fault := new(jsontree.Reader[struct{}]).Read(raw, jsontree.Options[struct{}]{})
		if fault == nil {
			return root, nil
		}
		err = fault
	}
	return nil, unreadableAnswer(err)
}

func unreadableAnswer(err error) error {
	return aai.Errorf(aai.Internal, "the gateway answered in a form that this command cannot show: %w", err)
}

// A sheet is an answer as a table. Which members of its rows are columns, in which
// order and under which titles, the tool's Returns say: what has a title is one.
type answerTable struct {
	answer  *jsonNode // all of it
	columns []column
	rows    []*jsonNode
}

type column struct {
	name, title string
	time        bool // as RFC 3339
}

// readTable reads the answer of one of the gateway's own tools: rows, or an object with
// rows in it.
func (r *run) readTable(ctx context.Context, tool string, data any) (*answerTable, error) {
	answer, err := nodeOf(data)
	if err != nil {
		return nil, err
	}
	gateway, err := r.gateway()
	if err != nil {
		return nil, err
	}
	s := &answerTable{answer: answer}
	if found := findTool(ctx, gateway.Catalog, aai.BuiltinApp, tool); found != nil {
		promised, err := nodeOf(found.Returns.Source)
		if err != nil {
			return nil, err
		}
		answer = s.findRows(promised, answer)
	}
	if s.columns == nil || answer != nil && answer.Kind != jsontree.List && answer.Kind != jsontree.Null {
		return nil, aai.Errorf(aai.Internal, "the gateway answered in a form that this command cannot show: expected rows")
	}
	for row := range answer.Items() {
		s.rows = append(s.rows, row)
	}
	return s, nil
}

// findRows finds where the rows are, and what their columns are. It returns nil where
// there are none.
func (s *answerTable) findRows(promised, answer *jsonNode) *jsonNode {
	for p := range promised.Member("items").Member("properties").Items() {
		if title := p.Member("title"); title != nil {
			format := p.Member("format")
			s.columns = append(s.columns, column{p.Name, title.Text, format != nil && format.Text == "date-time"})
		}
	}
	if s.columns != nil {
		return answer
	}
	for p := range promised.Member("properties").Items() {
		if rows := s.findRows(p, answer.Member(p.Name)); s.columns != nil {
			return rows
		}
	}
	return nil
}

// showAnswerTable writes the table. Cells whose column is in others are written by that,
// and lines of below stand below their rows.
func (o *output) showAnswerTable(s *answerTable, others map[string]func(row *jsonNode) string, below func(row *jsonNode) []string) {
	header := make([]string, len(s.columns))
	for i, c := range s.columns {
		header[i] = strings.ToUpper(c.title)
	}
	rows, lines := make([][]string, len(s.rows)), make(map[int][]string)
	for i, row := range s.rows {
		for _, c := range s.columns {
			rows[i] = append(rows[i], o.cell(row, c, others[c.name]))
		}
		if below != nil {
			lines[i] = below(row)
		}
	}
	o.tableWith(header, rows, lines)
}

func (o *output) cell(row *jsonNode, c column, other func(*jsonNode) string) string {
	said := ""
	if other != nil {
		said = other(row)
	}
	switch {
	case said != "":
		return said
	case c.time:
		return o.shownTime(memberText(row, c.name))
	}
	return memberText(row, c.name)
}

// memberText is what a member says, for people; nothing where it is absent.
func memberText(n *jsonNode, name string) string {
	return wordsOf(n.Member(name), ", ")
}

func wordsOf(n *jsonNode, between string) string {
	if n == nil {
		return ""
	}
	switch n.Kind {
	case jsontree.Text, jsontree.Number:
		return n.Text
	case jsontree.True:
		return "yes"
	case jsontree.False:
		return "no"
	case jsontree.List:
		var all []string
		for item := range n.Items() {
			all = append(all, wordsOf(item, between))
		}
		return strings.Join(all, between)
	case jsontree.Object:
		return string(n.Raw())
	}
	return ""
}

// isTrue reports whether a member is true.
func isTrue(n *jsonNode, name string) bool {
	m := n.Member(name)
	return m != nil && m.Kind == jsontree.True
}
