-- Whom a template is shared with, within its organization.
alter table templates
    -- The role of every member; null is none.
    add column everyone_role text check (everyone_role in ('use', 'admin')),
    -- The roles of single members, by the id of the user.
    add column user_acl jsonb not null default '{}';
update templates set everyone_role = 'use' where everyone_access;
alter table templates drop column everyone_access;
