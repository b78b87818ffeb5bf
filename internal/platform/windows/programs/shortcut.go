package programs

import (
	"bytes"
	"encoding/binary"
	"errors"
	"unicode/utf16"
)

// maxShortcut limits the size of a shortcut's file.
const maxShortcut = 1 << 20

// A shortcut is the content of a file of the Start menu: the format .lnk, [MS-SHLLINK] of Microsoft's open specifications.
type shortcut struct {
	target    string // a path, which may have variables such as %ProgramFiles%; "" if the shortcut names an object of the shell
	arguments string // as one line
	comment   string
}

// The parts that a shortcut's header announces.
const (
	hasIDList      = 1 << 0
	hasLinkInfo    = 1 << 1
	hasName        = 1 << 2
	hasRelative    = 1 << 3
	hasWorkingDir  = 1 << 4
	hasArguments   = 1 << 5
	hasIcon        = 1 << 6
	isUnicode      = 1 << 7
	forceNoInfo    = 1 << 8
	shortcutHeader = 0x4C
	environmentTag = 0xA0000001
)

var errShortcut = errors.New("the shortcut's file is damaged")

// parseShortcut reads a shortcut. Its content may be a stranger's. narrow decodes text in the code page of this computer.
func parseShortcut(data []byte, narrow func([]byte) string) (s shortcut, err error) {
	r := reader{rest: data}
	const classID = "\x01\x14\x02\x00\x00\x00\x00\x00\xc0\x00\x00\x00\x00\x00\x00\x46"
	if r.u32() != shortcutHeader || string(r.take(16)) != classID {
		return shortcut{}, errShortcut
	}
	flags := r.u32()
	r.take(shortcutHeader - 24)
	if flags&hasIDList != 0 {
		r.take(int(r.u16()))
	}
	if flags&hasLinkInfo != 0 {
		info := r.sized()
		if flags&forceNoInfo == 0 {
			s.target = localPath(info, narrow)
		}
	}
	for _, part := range []struct {
		flag uint32
		to   *string
	}{{hasName, &s.comment}, {hasRelative, nil}, {hasWorkingDir, nil}, {hasArguments, &s.arguments}, {hasIcon, nil}} {
		if flags&part.flag == 0 {
			continue
		}
		if text := r.text(flags&isUnicode != 0, narrow); part.to != nil {
			*part.to = text
		}
	}
	for !r.damaged && len(r.rest) >= 8 {
		if binary.LittleEndian.Uint32(r.rest) < 8 {
			break // the last block
		}
		block := reader{rest: r.sized()}
		block.take(4)
		if block.u32() == environmentTag && s.target == "" {
			block.take(260) // the same in the code page of a machine
			s.target = wide(block.take(520))
		}
	}
	if r.damaged {
		return shortcut{}, errShortcut
	}
	return s, nil
}

// localPath returns the path of a LinkInfo, or "" if it is not on this computer.
func localPath(info []byte, narrow func([]byte) string) string {
	const onVolume, unicodeHeader = 1, 0x24
	h := reader{rest: info}
	h.take(4)
	header, flags := h.u32(), h.u32()
	h.take(4)
	base := h.u32()
	h.take(4)
	suffix := h.u32()
	if h.damaged || flags&onVolume == 0 {
		return ""
	}
	if header >= unicodeHeader {
		base, suffix = h.u32(), h.u32()
		return wide(from(info, base)) + wide(from(info, suffix))
	}
	return narrow(untilZero(from(info, base))) + narrow(untilZero(from(info, suffix)))
}

// A reader reads fields from a damaged file without failing: they are empty then.
type reader struct {
	rest    []byte
	damaged bool
}

func (r *reader) take(n int) []byte {
	if n < 0 || n > len(r.rest) {
		r.damaged, r.rest = true, nil
		return make([]byte, max(0, min(n, 16)))
	}
	taken := r.rest[:n]
	r.rest = r.rest[n:]
	return taken
}

func (r *reader) u16() uint16 { return binary.LittleEndian.Uint16(r.take(2)) }
func (r *reader) u32() uint32 { return binary.LittleEndian.Uint32(r.take(4)) }

// sized returns a structure that begins with its size.
func (r *reader) sized() []byte {
	if len(r.rest) < 4 {
		return r.take(4)
	}
	return r.take(int(min(binary.LittleEndian.Uint32(r.rest), maxShortcut)))
}

// text returns a counted text.
func (r *reader) text(inUnicode bool, narrow func([]byte) string) string {
	n := int(r.u16())
	if inUnicode {
		return wide(r.take(2 * n))
	}
	return narrow(untilZero(r.take(n)))
}

// from returns the data from an offset on, or none.
func from(data []byte, offset uint32) []byte {
	if uint64(offset) > uint64(len(data)) {
		return nil
	}
	return data[offset:]
}

// wide returns the UTF-16 text up to a zero.
func wide(data []byte) string {
	var units []uint16
	for ; len(data) >= 2; data = data[2:] {
		unit := binary.LittleEndian.Uint16(data)
		if unit == 0 {
			break
		}
		units = append(units, unit)
	}
	return string(utf16.Decode(units))
}

// untilZero returns the data before the first zero.
func untilZero(data []byte) []byte {
	text, _, _ := bytes.Cut(data, []byte{0})
	return text
}
