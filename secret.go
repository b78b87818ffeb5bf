package aai

// A SecretBinding is the only place that gets a secret of the person. Either App or Origin is set.
type SecretBinding struct {
	App    string `json:"app,omitempty"`    // id of a program with windows, or of an app with tools
	Origin string `json:"origin,omitempty"` // scheme, host and port of web pages, such as "https://github.com"
	// Field is the name of the field, "#" and its identifier, or its role, ":" and its name. For a tool it is the name of
	// the argument. Empty means any password field, any text field for a one-time code, and any argument of a tool.
	Field string `json:"field,omitempty"`
}

// Target returns the app or the origin.
func (b SecretBinding) Target() string { return b.App + b.Origin }

// A SecretUse is a secret of the person that a call names as {{secret:NAME}}.
type SecretUse struct {
	Name    string
	Binding SecretBinding
	IsCode  bool   // the gateway fills a one-time code made from it
	Digest  string // of the binding and the source of the value; consent is bound to it
	// Argument is the argument that the value is for, such as "user.password"; "" for a field of a window.
	Argument string
}

// A SecretPlace is the place where a call would put a secret.
type SecretPlace struct {
	App      string // id of the target
	Argument string // name of the argument of a tool; "" for a field of a window

	// InPage reports whether the field is part of a document in a program that shows web pages. Address is the address
	// of the document, which may be a frame in a page; "" if it is unknown.
	InPage  bool
	Address string
	// Role, Name and ID describe the field. IsPassword reports whether the program hides its text, and IsText whether it
	// takes text at all.
	Role, Name, ID     string
	IsPassword, IsText bool
}
