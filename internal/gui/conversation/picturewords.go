package conversation

import (
	"image"
	"strconv"
	"strings"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// maxPictureWords is the number of texts of pictures that a conversation keeps; the oldest are dropped.
const maxPictureWords = 2000

// A PictureWord is a text that was read in a picture of a window.
type PictureWord struct {
	Text    string
	Near    string // the texts around it, where another than the gateway named it
	Process Process
	Window  desktop.WindowID
	Frame   image.Rectangle // in the window
	Picture *image.RGBA     // of the frame, from when it was read
}

// AddPictureWord keeps the text and returns its ref, such as w3.
func (s *Session) AddPictureWord(w PictureWord) (ref string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.words == nil {
		s.words = make(map[int]PictureWord)
	}
	s.lastWord++
	s.words[s.lastWord] = w
	delete(s.words, s.lastWord-maxPictureWords)
	return "w" + strconv.Itoa(s.lastWord)
}

// IsPictureWord reports whether the text has the form of a ref of AddPictureWord.
func IsPictureWord(ref string) bool {
	number, is := strings.CutPrefix(ref, "w")
	n, err := strconv.Atoi(number)
	return is && err == nil && n > 0
}

// PictureWord returns the text of a ref of AddPictureWord; false if the conversation has none.
func (s *Session) PictureWord(ref string) (PictureWord, bool) {
	number, is := strings.CutPrefix(ref, "w")
	n, err := strconv.Atoi(number)
	if !is || err != nil {
		return PictureWord{}, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	w, is := s.words[n]
	return w, is
}
