package importers

import "strings"

// grammar lists the members that an import reads, by the kind of the object. "[k]" is a list of k,
// "{k}" an object with values of the kind k. Other members are ignored.
//
// The kinds of scalars are "text", "flag", "number", "count", and "bound" (a flag or a number).
// "data" is any value. The others are kinds of objects. A kind for Swagger 2.0 ends in "2".
const grammar = `
document openapi=text info=info servers=[server] paths={path} components=components security=[needs] tags=[tag]
document2 swagger=text info=info host=text basePath=text schemes=[text] consumes=[text] produces=[text] paths={path2} definitions={schema} parameters={parameter2} responses={response2} securityDefinitions={scheme} security=[needs] tags=[tag]
info title=text description=text version=text
server url=text variables={variable}
variable default=text
tag name=text
components schemas={schema} parameters={parameter} requestBodies={body} responses={response} securitySchemes={scheme} pathItems={path}
path parameters=[parameter] servers=[server] get=operation head=operation post=operation put=operation patch=operation delete=operation options=operation trace=operation query=operation
path2 parameters=[parameter2] get=operation2 head=operation2 post=operation2 put=operation2 patch=operation2 delete=operation2 options=operation2
operation operationId=text summary=text description=text tags=[text] deprecated=flag parameters=[parameter] requestBody=body responses={response} security=[needs] servers=[server]
operation2 operationId=text summary=text description=text tags=[text] deprecated=flag parameters=[parameter2] responses={response2} security=[needs] schemes=[text] consumes=[text] produces=[text]
parameter name=text in=text description=text required=flag style=text explode=flag allowReserved=flag schema=schema content={media} example=data
parameter2 name=text in=text description=text required=flag schema=schema collectionFormat=text type=text format=text items=schema default=data enum=[data] minimum=number maximum=number exclusiveMinimum=bound exclusiveMaximum=bound minLength=count maxLength=count minItems=count maxItems=count multipleOf=number pattern=text uniqueItems=flag
body description=text required=flag content={media}
media schema=schema encoding={encoding}
encoding contentType=text style=text explode=flag allowReserved=flag
response description=text content={media}
response2 description=text schema=schema
scheme type=text description=text name=text in=text scheme=text flows=flows flow=text authorizationUrl=text tokenUrl=text scopes={text}
flows authorizationCode=flow implicit=flow password=flow clientCredentials=flow
flow authorizationUrl=text tokenUrl=text scopes={text}
needs *=[text]
schema type=types title=text description=text format=text enum=[data] const=data default=data nullable=flag readOnly=flag writeOnly=flag contentMediaType=text contentEncoding=text minimum=number maximum=number exclusiveMinimum=bound exclusiveMaximum=bound multipleOf=number minLength=count maxLength=count minItems=count maxItems=count uniqueItems=flag pattern=text properties={schema} required=[text] items=schema additionalProperties=schema allOf=[schema] anyOf=[schema] oneOf=[schema]
`

// parseGrammar returns the members of each kind with their kinds.
func parseGrammar() map[string]map[string]string {
	kinds := make(map[string]map[string]string)
	for line := range strings.Lines(grammar) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		kinds[words[0]] = make(map[string]string)
		for _, word := range words[1:] {
			name, kind, _ := strings.Cut(word, "=")
			kinds[words[0]][name] = kind
		}
	}
	return kinds
}

// sections returns the object that holds shared values of a kind, by the kind.
func sections() map[string]string {
	return map[string]string{
		"schema": "#/components/schemas/", "parameter": "#/components/parameters/", "body": "#/components/requestBodies/",
		"response": "#/components/responses/", "scheme": "#/components/securitySchemes/", "path": "#/components/pathItems/",
	}
}

// sectionsOfSwagger is sections for Swagger 2.0.
func sectionsOfSwagger() map[string]string {
	return map[string]string{
		"schema": "#/definitions/", "parameter2": "#/parameters/", "response2": "#/responses/", "scheme": "#/securityDefinitions/",
	}
}
