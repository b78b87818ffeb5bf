package screen

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/platform/windows/win32"
)

const (
	maxClip = 16 << 20 // bytes
	// clipPatience is the time for another program to close the clipboard.
	clipPatience = 3 * time.Second
	clipPause    = 10 * time.Millisecond
	pngSignature = "\x89PNG\r\n\x1a\n"
)

// Get implements desktop.Clipboard: the text, or without text the picture. The line breaks of the text are single characters.
func (*Display) Get(ctx context.Context) (desktop.Clip, error) {
	return onClipboard(ctx, "reading the clipboard", func(c *win32.Clipboard) (desktop.Clip, error) {
		if c.Has(win32.ClipText) {
			data, err := c.Read(win32.ClipText, 2*maxClip)
			return desktop.Clip{Text: textOf(data)}, err
		}
		if pngs := win32.RegisterClipFormat("PNG"); c.Has(pngs) {
			// Windows rounds the size up; a picture ends with its last chunk.
			if data, err := c.Read(pngs, maxClip); err == nil && bytes.HasPrefix(data, []byte(pngSignature)) {
				return desktop.Clip{PNG: cutPNG(data)}, nil
			}
		}
		if !c.Has(win32.ClipBitmap) {
			return desktop.Clip{}, nil
		}
		data, err := c.Read(win32.ClipBitmap, 4*maxPixels)
		if err != nil {
			return desktop.Clip{}, err
		}
		picture, err := pngFromDIB(data)
		return desktop.Clip{PNG: picture}, err
	})
}

// Set implements desktop.Clipboard. Line breaks become those of Windows. A picture is put there as PNG, and as a bitmap for programs that
// know no PNG.
func (*Display) Set(ctx context.Context, clip desktop.Clip) (stays string, err error) {
	var bitmap []byte
	switch {
	case len(clip.Text) > maxClip || len(clip.PNG) > maxClip:
		return "", notDelivered(aai.InvalidParams, "a clip may have %d bytes, and this one has %d", maxClip, max(len(clip.Text), len(clip.PNG)))
	case !utf8.ValidString(clip.Text) || strings.Contains(clip.Text, "\x00"):
		return "", notDelivered(aai.InvalidParams, "the text is not valid UTF-8, or has a zero character, which ends a text on Windows")
	case len(clip.PNG) > 0:
		if bitmap, err = dibFromPNG(clip.PNG); err != nil {
			return "", notDelivered(aai.InvalidParams, "the picture is no PNG: %v", err)
		}
	}
	_, err = onClipboard(ctx, "writing the clipboard", func(c *win32.Clipboard) (struct{}, error) {
		err := c.Clear()
		if err == nil && clip.Text != "" {
			err = c.Write(win32.ClipText, bytesOf(clip.Text))
		}
		if err == nil && len(clip.PNG) > 0 {
			err = errors.Join(c.Write(win32.RegisterClipFormat("PNG"), clip.PNG), c.Write(win32.ClipBitmap, bitmap))
		}
		return struct{}{}, err
	})
	return "also after the gateway ends, since Windows keeps it", err
}

// onClipboard runs do while this process has the clipboard open.
func onClipboard[T any](ctx context.Context, doing string, do func(*win32.Clipboard) (T, error)) (T, error) {
	return within(ctx, doing, func() (T, error) {
		runtime.LockOSThread() // the clipboard belongs to the thread that opened it
		defer runtime.UnlockOSThread()
		var none T
		for until := time.Now().Add(clipPatience); ; {
			c, err := win32.OpenClipboard()
			if err == nil {
				defer c.Close()
				value, err := do(c)
				if err != nil {
					e := aai.Errorf(aai.AutomationFailed, "%s: %w", doing, err)
					e.Delivery = aai.DeliveryUnknown
					return none, e
				}
				return value, nil
			}
			if time.Now().After(until) || aai.Sleep(ctx, clipPause) != nil {
				return none, clipboardBusy(doing, err)
			}
		}
	})
}

func clipboardBusy(doing string, err error) error {
	e := aai.Errorf(aai.AutomationFailed, "%s: another program has it open: %w", doing, err)
	if pid := win32.ClipboardHolder(); pid != 0 {
		e.Message = fmt.Sprintf("%s: process %d has it open", doing, pid)
	}
	e.Delivery, e.Hint = aai.NotDelivered, "Try again. If that does not help, the other program may hang."
	return e
}

// textOf returns a text of Windows, which ends with its first zero.
func textOf(data []byte) string {
	units := make([]uint16, 0, len(data)/2)
	for i := 0; i+1 < len(data); i += 2 {
		unit := binary.LittleEndian.Uint16(data[i:])
		if unit == 0 {
			break
		}
		units = append(units, unit)
	}
	return strings.ReplaceAll(string(utf16.Decode(units)), "\r\n", "\n")
}

// bytesOf returns a text as Windows wants it.
func bytesOf(text string) []byte {
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\n", "\r\n")
	units := append(utf16.Encode([]rune(text)), 0)
	data := make([]byte, 0, 2*len(units))
	for _, unit := range units {
		data = binary.LittleEndian.AppendUint16(data, unit)
	}
	return data
}

// cutPNG cuts the bytes after the last chunk of a PNG.
func cutPNG(data []byte) []byte {
	const head, crc = 8, 4
	for at := len(pngSignature); at+head <= len(data); {
		end := at + head + int(binary.BigEndian.Uint32(data[at:])) + crc
		if end > len(data) {
			break
		}
		if string(data[at+4:at+head]) == "IEND" {
			return data[:end]
		}
		at = end
	}
	return data
}
