package webapi

import (
	"bytes"
	"context"
	"fmt"
	"mime/multipart"
	"net/textproto"
	"strings"
)

// formPart is a part of a body of the type multipart/form-data (RFC 7578).
type formPart struct {
	name, file, media string // file is the file's name; empty: none
	content           []byte
}

// addParts appends the parts of a parameter: one for each item of a list. An object is JSON.
func (u *uploads) addParts(ctx context.Context, parts []formPart, p paramPlace, value any) ([]formPart, error) {
	switch v := value.(type) {
	case nil:
		return parts, nil
	case []any:
		var err error
		for _, item := range v {
			if parts, err = u.addParts(ctx, parts, p, item); err != nil {
				break
			}
		}
		return parts, err
	}
	part := formPart{name: p.name, media: p.media}
	text, scalar := scalarText(value)
	switch {
	case p.file:
		file, err := u.open(ctx, value)
		if err != nil {
			return nil, err
		}
		part.file, part.content = file.name, file.content
		if part.media == "" {
			part.media = file.media
		}
	case scalar:
		part.content = []byte(text)
	default:
		content, err := encodeJSON(value)
		if err != nil {
			return nil, err
		}
		part.content = content
		if part.media == "" {
			part.media = "application/json"
		}
	}
	return append(parts, part), nil
}

// setParts writes the parts as the body.
func (m *message) setParts(parts []formPart) error {
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	quoted := strings.NewReplacer("\\", "\\\\", `"`, "%22", "\r", "%0D", "\n", "%0A")
	for _, part := range parts {
		header := textproto.MIMEHeader{}
		disposition := fmt.Sprintf(`form-data; name="%s"`, quoted.Replace(part.name))
		if part.file != "" {
			disposition += fmt.Sprintf(`; filename="%s"`, quoted.Replace(part.file))
		}
		header.Set("Content-Disposition", disposition)
		if part.media != "" {
			header.Set("Content-Type", part.media)
		}
		to, err := w.CreatePart(header)
		if err != nil {
			return err
		}
		if _, err := to.Write(part.content); err != nil {
			return err
		}
	}
	if err := w.Close(); err != nil {
		return err
	}
	m.body = body.Bytes()
	m.headers.Set("Content-Type", w.FormDataContentType())
	return nil
}
