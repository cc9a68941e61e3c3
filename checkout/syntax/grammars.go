//go:build cgo && treesitter

package syntax

import (
	"sync"
	"unsafe"

	sitter "github.com/tree-sitter/go-tree-sitter"
	csharp "github.com/tree-sitter/tree-sitter-c-sharp/bindings/go"
	c "github.com/tree-sitter/tree-sitter-c/bindings/go"
	cpp "github.com/tree-sitter/tree-sitter-cpp/bindings/go"
	golang "github.com/tree-sitter/tree-sitter-go/bindings/go"
	java "github.com/tree-sitter/tree-sitter-java/bindings/go"
	javascript "github.com/tree-sitter/tree-sitter-javascript/bindings/go"
	php "github.com/tree-sitter/tree-sitter-php/bindings/go"
	python "github.com/tree-sitter/tree-sitter-python/bindings/go"
	ruby "github.com/tree-sitter/tree-sitter-ruby/bindings/go"
	rust "github.com/tree-sitter/tree-sitter-rust/bindings/go"
	typescript "github.com/tree-sitter/tree-sitter-typescript/bindings/go"
)

// loaded is a grammar with its query; both may be used by several goroutines at once.
type loaded struct {
	language *sitter.Language
	query    *sitter.Query
	names    []string // of the captures, by index
}

// grammar loads on first use. It gives nil when the query does not fit the grammar, which a test rules out.
type grammar func() *loaded

func newGrammar(language func() unsafe.Pointer, query string) grammar {
	return sync.OnceValue(func() *loaded {
		l := &loaded{language: sitter.NewLanguage(language())}
		q, err := sitter.NewQuery(l.language, query)
		if err != nil {
			return nil
		}
		l.query, l.names = q, q.CaptureNames()
		return l
	})
}

// grammars hold what is declared, as queries. A capture's name is the kind of declaration; with .local it does not count inside of
// functions. @name is its name, @declarator a C declarator to read it from, @parent what it belongs to when that is not around it, @body where
// its head ends when the field of that name does not say; @attribute and @comment may belong to the declaration below, a @heredoc to the one that ends on its first line.
// Two grammars are left out. The shell's scanner (v0.23.3) writes past the buffer for its state when a heredoc's word is long; Kotlin's grammar
// (v1.1.0) reads a class under an annotation with arguments as an expression.
var grammars = map[string]grammar{
	"go":         newGrammar(golang.Language, goQuery),
	"python":     newGrammar(python.Language, pythonQuery),
	"javascript": newGrammar(javascript.Language, scriptQuery+javascriptQuery),
	"typescript": newGrammar(typescript.LanguageTypescript, scriptQuery+typescriptQuery),
	"tsx":        newGrammar(typescript.LanguageTSX, scriptQuery+typescriptQuery),
	"rust":       newGrammar(rust.Language, rustQuery),
	"java":       newGrammar(java.Language, javaQuery),
	"c":          newGrammar(c.Language, cQuery),
	"cpp":        newGrammar(cpp.Language, cQuery+cppQuery),
	"csharp":     newGrammar(csharp.Language, csharpQuery),
	"ruby":       newGrammar(ruby.Language, rubyQuery),
	"php":        newGrammar(php.LanguagePHP, phpQuery),
}

// grammarOf gives the grammar for a language's files with an extension, or nil: some extensions only resemble their language.
func grammarOf(language, ext string) grammar {
	switch ext {
	case ".vue", ".svelte", ".m", ".mm", ".pyx":
		return nil
	case ".tsx":
		return grammars["tsx"]
	}
	return grammars[language]
}

const goQuery = `
(comment) @comment
(ERROR) @error
(function_declaration name: (_) @name) @function
(method_declaration receiver: (parameter_list (parameter_declaration type: [
  (type_identifier) @parent
  (pointer_type (type_identifier) @parent)
  (generic_type type: (_) @parent)
  (pointer_type (generic_type type: (_) @parent))])) name: (_) @name) @function
(method_declaration name: (_) @name) @function
(type_spec name: (_) @name) @type.local
(type_alias name: (_) @name) @type.local
(const_spec name: (identifier) @name) @constant.local
(var_spec name: (identifier) @name) @variable.local
`

const pythonQuery = `
(comment) @comment
(decorator) @attribute
(ERROR) @error
(function_definition name: (_) @name) @function
(class_definition name: (_) @name) @class
(module (expression_statement (assignment left: (identifier) @name) @constant.local))
`

// scriptQuery is what JavaScript and TypeScript have in common.
const scriptQuery = `
(comment) @comment
(decorator) @attribute
(ERROR) @error
(function_declaration name: (_) @name) @function
(generator_function_declaration name: (_) @name) @function
(class_declaration name: (_) @name) @class
(method_definition name: (_) @name) @function
(variable_declarator name: (identifier) @name value: [(arrow_function body: (_) @body) (function_expression body: (_) @body) (generator_function body: (_) @body)]) @function
(variable_declarator name: (identifier) @name value: (call_expression arguments: (arguments . [(arrow_function body: (_) @body) (function_expression body: (_) @body)]))) @function.local
(variable_declarator name: (identifier) @name value: (class body: (_) @body)) @class
(variable_declarator name: (identifier) @name value: (object) @body) @object.local
(lexical_declaration kind: "const" (variable_declarator name: (identifier) @name) @constant.local)
(lexical_declaration kind: "let" (variable_declarator name: (identifier) @name) @variable.local)
(variable_declaration (variable_declarator name: (identifier) @name) @variable.local)
(assignment_expression left: (member_expression property: (_) @name) right: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @function.local
(export_statement value: (binary_expression right: (function_expression name: (_) @name body: (_) @body))) @function
(export_statement value: (call_expression arguments: (arguments . (function_expression name: (_) @name body: (_) @body)))) @function
(export_statement "default" @name value: (call_expression arguments: (arguments . [(arrow_function body: (_) @body) (function_expression !name body: (_) @body)]))) @function
(export_statement "default" @name value: [(arrow_function body: (_) @body) (function_expression !name body: (_) @body) (generator_function !name body: (_) @body)]) @function
(export_statement "default" @name value: (class !name body: (_) @body)) @class
(pair key: (_) @name value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @function.local
((call_expression function: [(identifier) @word (member_expression object: (identifier) @word)] arguments: (arguments . [(string) (template_string)] @name . [(arrow_function body: (_) @body) (function_expression body: (_) @body)])) @test
 (#match? @word "^(it|test|describe|suite|context)$"))
`

const javascriptQuery = `
(field_definition property: (_) @name value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @function
`

const typescriptQuery = `
(public_field_definition name: (_) @name value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @function
(abstract_class_declaration name: (_) @name) @class
(interface_declaration name: (_) @name) @interface
(enum_declaration name: (_) @name) @enum
(type_alias_declaration name: (_) @name) @type.local
(internal_module name: (_) @name) @namespace
(module name: (_) @name) @namespace
(function_signature name: (_) @name) @function
(method_signature name: (_) @name) @function.local
(abstract_method_signature name: (_) @name) @function
`

const rustQuery = `
[(line_comment) (block_comment)] @comment
(attribute_item) @attribute
(ERROR) @error
(function_item name: (_) @name) @function
(function_signature_item name: (_) @name) @function
(struct_item name: (_) @name) @struct
(union_item name: (_) @name) @struct
(enum_item name: (_) @name) @enum
(trait_item name: (_) @name) @trait
(impl_item type: (_) @name) @impl
(mod_item name: (_) @name body: (_)) @namespace
(type_item name: (_) @name) @type.local
(associated_type name: (_) @name) @type.local
(const_item name: (_) @name) @constant.local
(static_item name: (_) @name) @constant.local
(macro_definition name: (_) @name) @macro
`

const javaQuery = `
[(line_comment) (block_comment)] @comment
[(marker_annotation) (annotation)] @attribute
(ERROR) @error
(class_declaration name: (_) @name) @class
(record_declaration name: (_) @name) @class
(interface_declaration name: (_) @name) @interface
(annotation_type_declaration name: (_) @name) @interface
(enum_declaration name: (_) @name) @enum
(enum_constant name: (_) @name body: (_) @body) @class
(method_declaration name: (_) @name) @function
(constructor_declaration name: (_) @name) @function
(compact_constructor_declaration name: (_) @name) @function
(annotation_type_element_declaration name: (_) @name) @function
(field_declaration declarator: (variable_declarator name: (_) @name)) @field.local
(constant_declaration declarator: (variable_declarator name: (_) @name)) @field.local
`

// cQuery is what C and C++ have in common. A declaration inside of a function is a variable, or a prototype that nobody looks for.
const cQuery = `
(comment) @comment
(ERROR) @error
(function_definition declarator: (_) @declarator) @function
(declaration declarator: [
  (function_declarator) @declarator
  (pointer_declarator (function_declarator)) @declarator
  (pointer_declarator (pointer_declarator (function_declarator))) @declarator]) @function.local
(declaration declarator: (_) @declarator) @variable.local
(field_declaration declarator: (function_declarator) @declarator) @function.local
(field_declaration declarator: (pointer_declarator (function_declarator)) @declarator) @function.local
(field_declaration declarator: (_) @declarator) @field.local
(type_definition type: [(struct_specifier body: (_) @body) (union_specifier body: (_) @body)] declarator: (_) @declarator) @struct
(type_definition type: (enum_specifier body: (_) @body) declarator: (_) @declarator) @enum
(type_definition declarator: (_) @declarator) @type.local
(struct_specifier name: (_) @name body: (_)) @struct
(union_specifier name: (_) @name body: (_)) @struct
(enum_specifier name: (_) @name body: (_)) @enum
(preproc_def name: (_) @name value: (_)) @macro
(preproc_function_def name: (_) @name) @macro
`

const cppQuery = `
(field_declaration declarator: (reference_declarator (function_declarator)) @declarator) @function.local
(declaration declarator: (reference_declarator (function_declarator)) @declarator) @function.local
(class_specifier name: (_) @name body: (_)) @class
(namespace_definition name: (_) @name) @namespace
(alias_declaration name: (_) @name) @type.local
(concept_definition name: (_) @name) @type.local
`

const csharpQuery = `
(comment) @comment
(attribute_list) @attribute
(ERROR) @error
(namespace_declaration name: (_) @name) @namespace
(file_scoped_namespace_declaration name: (_) @name) @namespace
(class_declaration name: (_) @name) @class
(record_declaration name: (_) @name) @class
(struct_declaration name: (_) @name) @struct
(interface_declaration name: (_) @name) @interface
(enum_declaration name: (_) @name) @enum
(delegate_declaration name: (_) @name) @type
(method_declaration name: (_) @name) @function
(constructor_declaration name: (_) @name) @function
(destructor_declaration name: (_) @name) @function
(local_function_statement name: (_) @name) @function
(property_declaration name: (_) @name accessors: (_) @body) @field
(property_declaration name: (_) @name) @field
(field_declaration (variable_declaration (variable_declarator name: (_) @name))) @field
(event_field_declaration (variable_declaration (variable_declarator name: (_) @name))) @field
`

const rubyQuery = `
(comment) @comment
(heredoc_body) @heredoc
(ERROR) @error
(method name: (setter (identifier) @name)) @function
(method name: (_) @name) @function
(singleton_method name: (_) @name) @function
(class name: (_) @name) @class
(module name: (_) @name) @namespace
(assignment left: (constant) @name) @constant.local
((call method: (identifier) @word arguments: (argument_list . (string) @name) block: (_) @body) @test
 (#match? @word "^(it|describe|context|test|specify|scenario|feature)$"))
((call receiver: (_) method: (identifier) @word arguments: (argument_list . (constant) @name) block: (_) @body) @test
 (#match? @word "^describe$"))
((call method: (identifier) @word arguments: (argument_list . (simple_symbol) @name)) @field.local
 (#match? @word "^(define_method|attr_accessor|attr_reader|scope|has_many|belongs_to|task)$"))
`

const phpQuery = `
(comment) @comment
(attribute_list) @attribute
(ERROR) @error
(function_definition name: (_) @name) @function
(method_declaration name: (_) @name) @function
(class_declaration name: (_) @name) @class
(interface_declaration name: (_) @name) @interface
(trait_declaration name: (_) @name) @trait
(enum_declaration name: (_) @name) @enum
(namespace_definition name: (_) @name) @namespace
(const_declaration (const_element . (name) @name)) @constant
`
