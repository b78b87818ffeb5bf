package doctor

import (
	"context"

	"github.com/gybob/aai-gateway/internal/answer"
	"github.com/gybob/aai-gateway/internal/sanitize"
)

// systemKeychain is the name of the system's keychain among the places.
const systemKeychain = "keychain"

// keychain checks the store of the gateway's secrets. If that is the system's keychain, it stores a
// test secret there, reads it, and deletes it.
func (d *Doctor) keychain(ctx context.Context, f *Finding) {
	if d.facts.homeFault() != nil {
		f.setSkipped("it needs a writable home folder; see that check") // a keyring that starts without a home hangs
		return
	}
	if d.locked(ctx, f) {
		return
	}
	k, ok := ask[answer.Keychain](ctx, d, f, "keychain_status", "the store of secrets is unknown")
	if !ok {
		return
	}
	title := ""
	for _, p := range k.Places {
		if p.Name == k.Place {
			title = p.Title
		}
	}
	switch {
	case k.ConsentsProblem != "" && (k.Problem == "" || k.Place == ""):
		f.setBroken(k.ConsentsProblem, k.ConsentsHint)
	case k.ConsentsUnsaved != "":
		f.setNote("permissions cannot be saved: "+k.ConsentsUnsaved, k.ConsentsHint)
	case k.Problem != "" && k.Place == "":
		f.setNote("no secret store is available: permissions are in a plain file that only you can read, and logins to web apps are not stored",
			"To store them, log in to a desktop, which opens its keychain. Or make a key file, and set AAI_MASTER_KEY_FILE wherever the gateway is started.")
		for _, p := range k.Places {
			if p.Name == systemKeychain && p.Detail != "" {
				f.Details = append(f.Details, p.Title+": "+p.Detail)
			}
		}
	case k.Problem != "":
		f.setBroken(k.Problem, "Unlock it, or restore the key. To discard the secrets, move them away:", "mv "+sanitize.ShellJoin(d.cfg.DataDir+"/secrets")+" "+sanitize.ShellJoin(d.unusedName(d.cfg.DataDir+"/secrets.aside")))
	case k.Place != systemKeychain:
		f.setOK("the key of secrets is in %s", title)
		if k.Warning != "" {
			f.setNote(f.Saw+": "+k.Warning, "")
		}
	default:
		f.Did = "stored a test secret in the system's keychain, read it back, deleted it"
		if err := d.cfg.TryKeychain(ctx); err != nil {
			f.setCallError("it does not store the secret", err)
			return
		}
		f.setOK("the secret was read back unchanged")
	}
}
