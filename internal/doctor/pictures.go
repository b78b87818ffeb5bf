package doctor

import (
	"context"
	"os/exec"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/answer"
)

// A Model describes the configured model for pictures.
type Model struct {
	Text   string // such as "openai, eyes-1, at 127.0.0.1:1234"
	HasKey bool   // the environment has its key, or it needs none
	Login  string // the name by which auth login keeps its key; "" if it needs none
}

// pictures checks the readers of pictures: Tesseract, and the model. It asks the model nothing.
func (d *Doctor) pictures(ctx context.Context, f *Finding) {
	m := d.cfg.Model
	if !m.HasKey && m.Login != "" {
		result, err := call(ctx, d.cfg.Gateway, aai.BuiltinApp, "auth_status", map[string]any{"app": m.Login})
		if err == nil {
			report, err := dataOf[answer.LoginReport](result)
			m.HasKey = err == nil && len(report.Logins) > 0
		}
	}
	text := "the model is " + m.Text
	if _, err := exec.LookPath("tesseract"); err != nil {
		f.setNote("words in pictures cannot be read, since Tesseract is not installed; "+text, "The other tools work without it.", InstallCommand("tesseract-ocr"))
		return
	}
	if text = "Tesseract reads words; " + text; m.HasKey {
		f.setOK("%s", text)
		return
	}
	f.setNote(text+", and there is no key for it", "Its key is asked for and kept by:", "aai-gateway auth login "+m.Login)
}
