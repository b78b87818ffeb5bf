// Package jsonscan counts what a JSON text holds while it arrives, so that a reader can stop before
// it stores or decodes too much. It also finds the id of a JSON-RPC message that is not kept.
//
// A Scanner is no parser: it looks at brackets, commas, colons and quotation marks. For a text that
// is not JSON its counts have no meaning, and they never exceed the number of bytes.
package jsonscan

import "encoding/json"

// Limits of what a Scanner keeps of a message, in bytes.
const (
	maxName = 64
	maxID   = 256
)

// A Scanner reads one JSON text in parts. The zero Scanner is ready.
type Scanner struct {
	// Values is the number of values and of names of members so far.
	Values int
	// Depth is the number of nested containers at the deepest place so far.
	Depth int

	open                     int // containers
	inString, escaped        bool
	inScalar                 bool // within a number, true, false or null
	isObject                 bool // the outermost value is an object
	inName                   bool // the next string, or the current one, names a member of the outermost object
	ended, more              bool // the outermost container has ended; something follows
	name, id                 []byte
	ids                      int
	answers, hasMethod, isID bool
}

// Write reads the next part of the text. It never fails.
func (s *Scanner) Write(part []byte) (int, error) {
	for _, c := range part {
		s.read(c)
	}
	return len(part), nil
}

// Scan returns a Scanner that has read the entire text.
func Scan(text []byte) *Scanner {
	s := new(Scanner)
	_, _ = s.Write(text)
	return s
}

// read reads one byte.
func (s *Scanner) read(c byte) {
	if s.inString {
		s.keep(c)
		switch {
		case s.escaped:
			s.escaped = false
		case c == '\\':
			s.escaped = true
		case c == '"':
			s.inString = false
		}
		return
	}
	switch c {
	case ' ', '\t', '\r', '\n':
		s.inScalar = false
		return
	case ',':
		s.inScalar = false
		if s.open == 1 {
			s.endMember()
			return
		}
	case ':':
		s.inScalar = false
		if s.open == 1 && s.inName {
			s.beginMember()
			return
		}
	case '{', '[':
		if s.begin(c); s.open == 1 {
			return
		}
	case '}', ']':
		s.end()
	case '"':
		s.inString, s.inScalar = true, false
		s.count()
	default:
		if !s.inScalar {
			s.inScalar = true
			s.count()
		}
	}
	s.keep(c)
}

// count counts a value or a name that begins.
func (s *Scanner) count() {
	s.Values++
	s.more = s.more || s.ended
}

// begin reads the beginning of a container.
func (s *Scanner) begin(c byte) {
	s.inScalar = false
	s.count()
	s.open++
	s.Depth = max(s.Depth, s.open)
	if s.open == 1 {
		s.isObject, s.inName = c == '{', c == '{'
	}
}

// end reads the end of a container.
func (s *Scanner) end() {
	s.inScalar = false
	if s.open--; s.open == 0 {
		s.endMember()
		s.inName, s.ended = false, true
	}
}

// beginMember reads the colon after the name of a member of the outermost object.
func (s *Scanner) beginMember() {
	var name string
	if json.Unmarshal(s.name, &name) != nil {
		name = ""
	}
	s.inName, s.name = false, s.name[:0]
	switch name {
	case "id":
		s.isID, s.id = true, nil
		s.ids++
	case "method":
		s.hasMethod = true
	case "result", "error":
		s.answers = true
	}
}

// endMember reads the end of a member of the outermost object.
func (s *Scanner) endMember() { s.inName, s.isID = s.isObject, false }

// keep keeps a byte of a name or of the id.
func (s *Scanner) keep(c byte) {
	switch {
	case s.open == 1 && s.inName && len(s.name) < maxName:
		s.name = append(s.name, c)
	case s.isID && len(s.id) <= maxID:
		s.id = append(s.id, c)
	}
}

// ID returns the text of the message's id. It returns nil if the message has not ended, has no id or
// several, or is not one object.
func (s *Scanner) ID() json.RawMessage {
	if !s.isObject || !s.ended || s.more || s.ids != 1 || len(s.id) > maxID {
		return nil
	}
	return s.id
}

// IsAnswer reports whether the message is meant as an answer: it has a result or an error, and no
// method.
func (s *Scanner) IsAnswer() bool { return s.isObject && s.answers && !s.hasMethod }
