(function_declaration (simple_identifier) @name) @definition.function
(class_declaration "interface" (type_identifier) @name) @definition.interface
(class_declaration "enum" (type_identifier) @name) @definition.enum
(class_declaration (type_identifier) @name) @definition.class
(object_declaration (type_identifier) @name) @definition.class
(companion_object (type_identifier) @name) @definition.class
; Without a name it is called Companion.
(companion_object "companion" @name) @definition.class
(enum_entry (simple_identifier) @name) @definition.constant
(type_alias (type_identifier) @name) @definition.type
(secondary_constructor "constructor" @name) @definition.method
(property_declaration (variable_declaration (simple_identifier) @name)) @definition.variable
(class_parameter (binding_pattern_kind) (simple_identifier) @name) @definition.field
(lambda_literal) @local
(anonymous_initializer) @local
