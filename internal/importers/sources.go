package importers

import (
	"context"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/catalog"
	"github.com/gybob/aai-gateway/internal/files/atomicfile"
	"github.com/gybob/aai-gateway/internal/sanitize"
)

// fromClient is the prefix of the source in descriptors made from a client's server.
const fromClient = "client:"

// CurrentDigest returns the current digest of an imported app's source, and the command that imports it again. It
// reads local files only and changes nothing. The error is an *aai.Error.
func (r *Importer) CurrentDigest(_ context.Context, d *catalog.Document) (digest, again string, err error) {
	if d.Generated == nil {
		return "", "", aai.Errorf(aai.AutomationNotSupported, "its source is not recorded")
	}
	if source, ok := strings.CutPrefix(d.Generated.From, OpenAPISourcePrefix); ok {
		return documentDigest(source, d.ID)
	}
	if source, ok := strings.CutPrefix(d.Generated.From, fromClient); ok {
		client, name, _ := strings.Cut(source, "/")
		return r.serverDigest(client, name, d.Generated.From)
	}
	return "", "", aai.Errorf(aai.AutomationNotSupported, "%s is of an unknown kind", quotedSetting(d.Generated.From))
}

// documentDigest returns the digest of a document in a file. It does not fetch URLs; the person
// must run the returned command.
func documentDigest(source, id string) (digest, again string, err error) {
	again = shellCommand("import", "openapi", source, "--id", id)
	if strings.Contains(source, "://") {
		return "", again, aai.Errorf(aai.AutomationNotSupported, "its source is at an address; to fetch it, run: %s", again)
	}
	text, err := atomicfile.Read(source, atomicfile.ReadLimits{Size: maxDocument})
	if err != nil {
		return "", again, aai.Errorf(aai.AutomationFailed, "its document cannot be read: %w", err)
	}
	return DocumentDigest(text), again, nil
}

// serverDigest returns the digest of a server in its client's configuration.
func (r *Importer) serverDigest(client, name, from string) (digest, again string, err error) {
	if r.cfg.Clients == nil {
		return "", "", aai.Errorf(aai.AutomationNotSupported, "this gateway knows no clients")
	}
	name, project, _ := strings.Cut(name, "|")
	scopes, of, err := r.cfg.Clients.Scopes(client, project)
	if err != nil {
		return "", "", err
	}
	for _, s := range r.convertServers(client, project, scopes, nil) {
		if s.doc == nil || s.doc.Generated.From != from {
			continue
		}
		again = shellCommand("import", "--from", client, "--server", s.name)
		if project != "" {
			again = shellCommand("import", "--from", client, "--server", s.name, "--project", project)
		}
		return s.doc.Generated.Digest, again, nil
	}
	return "", "",
		aai.Errorf(aai.AutomationFailed, "%s has no server %s any more that could be taken over", of.Name,
			quotedSetting(name))
}

// shellCommand returns a command of the gateway in one line that a person can paste.
func shellCommand(words ...string) string {
	for i, word := range words {
		words[i] = aai.CleanLabel(word, maxSummaryLine)
	}
	return "aai-gateway " + sanitize.ShellJoin(words...)
}
