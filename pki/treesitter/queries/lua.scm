(function_statement name: (_) @name) @definition.function
(variable_declaration name: (variable_declarator) @name value: (function)) @definition.function
(program (variable_declaration name: (variable_declarator) @name) @definition.variable)
(field name: (identifier) @name value: (function)) @definition.method
(function) @local
