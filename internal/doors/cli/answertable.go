package cli

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/schema/jsontree"
)

// jsonNode is a node of an answer, or of the JSON Schema of a tool's answers.
type jsonNode = jsontree.Node[struct{}]

// nodeOf encodes value as JSON and parses it into a tree, so that the Go types that a tool
// used do not matter.
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

// answerTable is an answer as a table. The schema in the tool's Returns decides the
// columns: each member of a row that has a title, in the schema's order.
type answerTable struct {
	answer  *jsonNode // the whole answer
	columns []column
	rows    []*jsonNode
}

type column struct {
	name, title string
	time        bool // an RFC 3339 time
}

// readTable reads the answer of one of the gateway's own tools: a list of rows, or an
// object that contains one.
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

// findRows sets the columns of s and returns the list of rows in answer, or nil if there is
// none.
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

// showAnswerTable writes the table. others[name] formats a row's cell in the column name, unless it
// returns ""; below returns the lines below a row.
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

// memberText returns a member's value as text for people, "" if the member is absent.
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
