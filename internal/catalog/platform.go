package catalog

import (
	"bytes"
	"encoding/json"

	"github.com/gybob/aai-gateway"
)

// DescriptorForPlatform returns the app's descriptor reduced to app.Platform: "platform" and the members of its
// section, such as "tools", replace "platforms". It returns a descriptor without that section as written.
func DescriptorForPlatform(app *aai.App) json.RawMessage {
	p := &parser{o: Options{Origin: app.Site.Origin}}
	root, fault := new(reader).read(app.Descriptor.Raw, p.limits())
	if fault != nil || root.Kind != object {
		return app.Descriptor.Raw
	}
	section := root.Member("platforms")
	if section != nil {
		section = section.Member(app.Platform)
	}
	if section == nil {
		return app.Descriptor.Raw
	}
	var b bytes.Buffer
	write := func(name string, value []byte) {
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		b.Write(encode(name))
		b.WriteByte(':')
		b.Write(value)
	}
	for c := root.First; c != nil; c = c.Next {
		if c.Name != "platforms" {
			write(c.Name, c.Raw())
			continue
		}
		write("platform", encode(app.Platform))
		for part := section.First; part != nil; part = part.Next {
			if part.Name != "platform" && root.Member(part.Name) == nil {
				write(part.Name, part.Raw())
			}
		}
	}
	return json.RawMessage("{" + b.String() + "}")
}
