; Functions. A name found twice keeps its first kind and its widest range, so a
; function as a value comes before the plain variable.
(function_declaration name: (identifier) @name) @definition.function
(generator_function_declaration name: (identifier) @name) @definition.function
(variable_declarator name: (identifier) @name value: [(arrow_function) (function_expression) (generator_function)]) @definition.function
(assignment_expression left: (member_expression object: (_) @receiver property: (property_identifier) @name)
  right: [(arrow_function) (function_expression) (generator_function) (class)]) @definition.function

(assignment_expression left: (identifier) @name right: [(arrow_function) (function_expression) (generator_function) (class)]) @definition.function

(class_declaration name: (identifier) @name) @definition.class
(export_statement declaration: (class_declaration name: (identifier) @name)) @definition.class
(variable_declarator name: (identifier) @name value: (class)) @definition.class

(method_definition name: (_) @name) @definition.method
(field_definition property: (_) @name value: [(arrow_function) (function_expression)]) @definition.method
(field_definition property: (_) @name) @definition.field
(pair key: (property_identifier) @name value: [(arrow_function) (function_expression) (generator_function)]) @definition.method

(program (lexical_declaration (variable_declarator name: (identifier) @name) @definition.variable))
(program (variable_declaration (variable_declarator name: (identifier) @name) @definition.variable))
(export_statement declaration: (lexical_declaration (variable_declarator name: (identifier) @name) @definition.variable))
(export_statement declaration: (variable_declaration (variable_declarator name: (identifier) @name) @definition.variable))

(arrow_function) @local
(function_expression) @local
